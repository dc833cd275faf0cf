import type { IncomingMessage, ServerResponse } from 'node:http';
import { AgentGateway, APIError } from '../../packages/client/src/index.ts';
import { readJsonBody, Refusal, sendJson } from './answers.ts';

interface GatewayAccess {
  gatewayUrl: string;
  apiKey: string;
}

/** An open page asks again within seconds, so one attempt is enough. */
const ONCE = { retryForMs: 0, timeoutMs: 10_000 };
const INVOCATION = /^\/invocations\/(inv_[A-Za-z0-9]{1,64})\/cancel$/;

/** The invocation that a path of the console cancels, if it is one. */
export function cancelledInvocation(path: string): string | undefined {
  return INVOCATION.exec(path)?.[1];
}

/** Restate's deployments and unfinished invocations, read with the API key. Rejects with a `Refusal`. */
export async function sendOverview(access: GatewayAccess, response: ServerResponse): Promise<void> {
  const gateway = open(access);
  const [deployments, services, invocations] = await refusing(() =>
    Promise.all([
      gateway.deployments.list(ONCE),
      gateway.deployments.services(ONCE),
      gateway.invocations.list(ONCE),
    ]),
  );
  sendJson(response, 200, {
    deployments: deployments.map(({ id, uri }) => ({
      id,
      uri: uri ?? '',
      services: services
        .filter(({ deployment_id }) => deployment_id === id)
        .map(({ name, ty, handlers }) => ({ name, kind: ty, handlers: handlers.map(nameOf) })),
    })),
    invocations,
  });
}

/** Request: `{"uri", "force"?}`. Response: `{"services": […]}`. Rejects with a `Refusal`. */
export async function registerDeployment(
  access: GatewayAccess,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uri, force } = await readJsonBody(request);
  if (typeof uri !== 'string' || !URL.canParse(uri)) {
    throw new Refusal(400, 'invalid_body', 'Give the address of a deployment.');
  }
  const { services } = await refusing(() =>
    open(access).deployments.register(uri, { ...ONCE, force: force === true }),
  );
  sendJson(response, 200, { services: services.map(nameOf) });
}

/** Rejects with a `Refusal`. */
export async function cancelInvocation(
  access: GatewayAccess,
  id: string,
  response: ServerResponse,
): Promise<void> {
  await refusing(() => open(access).invocations.cancel(id, ONCE));
  sendJson(response, 200, {});
}

function open({ gatewayUrl, apiKey }: GatewayAccess): AgentGateway {
  return new AgentGateway({ url: gatewayUrl, apiKey });
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    // The reason of a missing response contains addresses and is not sent.
    if (error.status === undefined) {
      throw new Refusal(502, 'gateway_unreachable', 'The gateway did not answer the console.');
    }
    throw new Refusal(error.status, error.code, error.detail);
  }
}

function nameOf(value: unknown): string {
  const { name } = (value ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : '';
}
