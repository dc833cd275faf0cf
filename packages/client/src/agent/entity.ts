import { handlers, serde, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { AgentStatus } from '../events.ts';
import { sendRow } from './catalog-row.ts';
import type { Spawn } from './command.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { createTimeline, newTimeline, sendUnsent } from './timeline.ts';
import type { NewEvent, Timeline } from './timeline.ts';

/** Where an agent writes its timeline and its row of the catalog. */
export interface AgentOptions extends GatewayAccess {
  /** The URL of the catalog engine. Without it no rows are written. */
  catalogUrl?: string | undefined;
  /** The name of the service that writes rows. Default `catalogRow`; each deployment needs a name of its own. */
  rowService?: string;
}

/** The state of every agent as one value, so that it changes as a whole or not at all. */
export interface Entity {
  url: string;
  status: AgentStatus;
  parent: string | null;
  createdAt: string;
  timeline: Timeline;
}

const STATE_KEY = 'entity';

/** A handler that accepts any body of any type: the gateway forwards what the client sent. */
export function command(run: (ctx: ObjectContext, body: Uint8Array) => Promise<void>) {
  return handlers.object.exclusive({ accept: '*/*', input: serde.binary }, run);
}

/**
 * The entity of a command. Unsent events of an earlier invocation are sent first. An entity that does not exist yet
 * is spawned, also by a message: whoever may write to it may also create it.
 */
export async function openEntity<E extends Entity = Entity>(
  ctx: ObjectContext,
  options: AgentOptions,
  spawn: Spawn = {},
): Promise<E> {
  const { url, stream } = addressOf(ctx);
  const existing = await findEntity<E>(ctx, options);
  if (existing) {
    // Two tenants on one runtime with GATEWAY_RUNTIME_KEY_TEMPLATE={id} would share objects, so another tenant is
    // refused.
    if (existing.url !== url) throw new TerminalError(`this object is ${existing.url}, not ${url}`);
    return existing;
  }
  await createTimeline(ctx, options, stream);
  const entity: Entity = {
    url,
    status: 'idle',
    parent: spawn.parent ?? null,
    createdAt: await ctx.date.toJSON(),
    timeline: newTimeline(stream),
  };
  await record(ctx, options, entity, [{ kind: 'spawned', ...spawn }]);
  await keepRow(ctx, options, entity);
  return entity as E;
}

/** The entity, if it was ever spawned. */
export async function findEntity<E extends Entity = Entity>(
  ctx: ObjectContext,
  options: AgentOptions,
): Promise<E | null> {
  const entity = await ctx.get<E>(STATE_KEY);
  if (entity) await record(ctx, options, entity, []);
  return entity;
}

/** Stores the entity together with the events that describe the change, and sends the events. */
export async function record(
  ctx: ObjectContext,
  options: AgentOptions,
  entity: Entity,
  events: NewEvent[],
): Promise<void> {
  const { timeline } = entity;
  timeline.unsent.push(...events);
  if (timeline.unsent.length === 0) return;
  const save = () => saveEntity(ctx, entity);
  save();
  await sendUnsent(ctx, options, timeline, save);
}

/** Stores the entity without an event. */
export function saveEntity(ctx: ObjectContext, entity: Entity): void {
  ctx.set(STATE_KEY, entity);
}

/** Updates the entity's row in the catalog. Call it after the status changed. */
export async function keepRow(
  ctx: ObjectContext,
  options: AgentOptions,
  entity: Entity,
): Promise<void> {
  if (options.catalogUrl === undefined) return;
  // `/t/<tenant>/a/<type>/<id>`
  const [, , tenant = '', , type = '', id = ''] = entity.url.split('/');
  const row = {
    url: entity.url,
    type,
    id,
    status: entity.status,
    parent: entity.parent,
    tenant,
    created_at: entity.createdAt,
    updated_at: await ctx.date.toJSON(),
  };
  sendRow(ctx, row, options.rowService);
}

/** Names the request in the events it caused, so that its sender finds them. */
export function requestIdOf(ctx: ObjectContext): { requestId?: string } {
  const requestId = ctx.request().headers.get('x-request-id');
  return requestId === undefined ? {} : { requestId };
}

function addressOf(ctx: ObjectContext): { url: string; stream: string } {
  const { headers } = ctx.request();
  const url = headers.get('x-entity-url');
  const stream = headers.get('x-entity-stream');
  if (url === undefined || stream === undefined) {
    throw new TerminalError('x-entity-url and x-entity-stream are missing: use the gateway', {
      errorCode: 400,
    });
  }
  return { url, stream };
}
