import { setTimeout as delay } from 'node:timers/promises';
import { APIError } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import { probe } from '../doctor/probe.ts';
import { EXIT } from '../exit-codes.ts';
import { entityUrl } from '../gateway-rules.ts';
import { DEFAULT_TENANT, entityAddress, timelineTarget, type Entity } from './address.ts';
import type { Connection } from './connection.ts';
import { openGateway } from './open-gateway.ts';
import { registeredServices, typesHint } from './registered-types.ts';
import { rowOf } from './single-attempt.ts';

/** An entity that was just spawned gets its timeline and its row within this time, unless the agent is slow. */
const SPAWN_MS = 3_000;
const PAUSE_MS = 250;

/** What a part of the system says of an entity. A part that does not answer, or that the key does not open, is `unknown`. */
type Known = 'yes' | 'no' | 'unknown';

/**
 * Throws a `CliError` for an entity that has neither a row in the catalog, nor a timeline, nor an invocation. Where the
 * catalog or the history store cannot be asked, every entity passes.
 */
export async function refuseUnknown(
  entity: Entity,
  connection: Connection,
  { interrupted }: CliContext,
): Promise<void> {
  const giveUpAtMs = performance.now() + SPAWN_MS;
  for (;;) {
    // Asked before the others: a spawn has written both by the time it has ended.
    const pending = await hasInvocation(entity, connection, interrupted);
    if (pending === 'yes') return;
    const [row, timeline] = await Promise.all([
      hasRow(entity, connection, interrupted),
      hasTimeline(entity, connection),
    ]);
    if (row !== 'no' || timeline !== 'no') return;
    if (pending === 'no' || performance.now() > giveUpAtMs) break;
    await delay(PAUSE_MS, undefined, { signal: interrupted });
  }
  const services = await registeredServices(openGateway(connection), interrupted);
  if (services && !services.some(({ name }) => name === entity.type)) {
    const message = `There is no type ${entity.type}: no deployment serves it. Nothing was sent.`;
    throw new CliError(EXIT.notFound, message, typesHint(services));
  }
  const name = entityAddress({ ...entity, tenant: undefined });
  throw new CliError(
    EXIT.notFound,
    `There is no ${name}: the catalog does not have it, and it has no timeline. Nothing was sent.`,
    'agent-gateway ls lists what there is. --create sends it all the same, and the agent decides.',
  );
}

function hasRow(entity: Entity, connection: Connection, signal: AbortSignal): Promise<Known> {
  const { tenant = DEFAULT_TENANT, type, id } = entity;
  return asked(async () => {
    const row = await rowOf(openGateway(connection), entityUrl({ tenant, type, id }), signal);
    return row !== undefined;
  });
}

function hasInvocation(
  entity: Entity,
  connection: Connection,
  signal: AbortSignal,
): Promise<Known> {
  const { invocations } = openGateway(connection);
  const agent = entityAddress({ ...entity, tenant: undefined });
  return asked(async () => {
    const open = await invocations.list({ agent, limit: 1, retryForMs: 0, signal });
    return open.length > 0;
  });
}

async function hasTimeline(entity: Entity, connection: Connection): Promise<Known> {
  const answer = await probe(connection, `${timelineTarget(entity)}?offset=now`);
  if (!answer.answered) return 'unknown';
  if (answer.status === 404 && answer.code === undefined) return 'no';
  return answer.status === 200 ? 'yes' : 'unknown';
}

async function asked(work: () => Promise<boolean>): Promise<Known> {
  try {
    return (await work()) ? 'yes' : 'no';
  } catch (error) {
    if (error instanceof APIError) return 'unknown';
    throw error;
  }
}
