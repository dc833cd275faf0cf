import { APIError, type AgentGateway, type Service } from '../../../client/src/index.ts';
import { plainLine } from '../output/plain-text.ts';

/** The entity types among Restate's services: those that can be spawned. */
export function typesAmong(services: readonly Pick<Service, 'name' | 'handlers'>[]): string[] {
  return services
    .filter(({ handlers }) => handlers.some(({ name }) => name === 'spawn'))
    .map(({ name }) => plainLine(name))
    .sort();
}

/** Restate's services, or undefined if the key does not open the registry or Restate does not answer. */
export async function registeredServices(
  { deployments }: AgentGateway,
  signal: AbortSignal,
): Promise<Service[] | undefined> {
  try {
    return await deployments.services({ retryForMs: 0, signal });
  } catch (error) {
    if (error instanceof APIError) return undefined;
    throw error;
  }
}

/** What to do about a type that nobody serves: the types that there are, and how to register another. */
export function typesHint(services: readonly Service[]): string {
  const types = typesAmong(services);
  const known = types.length === 0 ? 'No type is registered.' : `Registered: ${types.join(', ')}.`;
  return `${known} Register another: agent-gateway deployments register URI`;
}
