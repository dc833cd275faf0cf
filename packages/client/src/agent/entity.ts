import { handlers, serde, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { AgentStatus } from '../events.ts';
import { sendRow } from './catalog-row.ts';
import type { Spawn } from './command.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { createTimeline, newTimeline, sendUnsent } from './timeline.ts';
import type { NewEvent, Timeline, TimelineOwner } from './timeline.ts';

/** Where an agent writes its timeline and its row of the catalog. */
export interface AgentOptions extends GatewayAccess {
  /** The URL of the catalog engine. Without it no rows are written. */
  catalogUrl?: string | undefined;
  /** What the catalog engine asks for, if anything. It is sent as `Authorization: Bearer …`. */
  catalogToken?: string | undefined;
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
  /** What is left of an agent that was forgotten. */
  forgotten?: Receipt;
}

/** What was deleted when an agent was forgotten, and what could not be. It has nothing of what was said. */
export interface Receipt {
  agent: string;
  /** As ISO 8601. */
  at: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
  /** `deleted`, or why it is still there. */
  timeline: string;
  /** `deleted`, or `none` for an agent without a catalog. */
  row: string;
  /** The children that were asked to forget, too. */
  children: string[];
}

/** The name of the state. */
export const ENTITY_STATE = 'entity';

/** A handler that accepts any body of any type: the gateway forwards what the client sent. */
export function command(run: (ctx: ObjectContext, body: Uint8Array) => Promise<void>) {
  return handlers.object.exclusive({ accept: '*/*', input: serde.binary }, run);
}

/** What an agent does when its timeline changes. */
export type OwnerOf<E extends Entity> = (entity: E) => Omit<TimelineOwner, 'save'>;

/**
 * The entity of a command. Unsent events of an earlier invocation are sent first. An entity that does not exist yet
 * is spawned, also by a message: whoever may write to it may also create it.
 */
export async function openEntity<E extends Entity = Entity>(
  ctx: ObjectContext,
  options: AgentOptions,
  spawn: Spawn = {},
  ownerOf?: OwnerOf<E>,
): Promise<E> {
  const { url, stream } = addressOf(ctx);
  const existing = await findEntity<E>(ctx, options, ownerOf);
  if (existing) return existing;
  await createTimeline(ctx, options, stream);
  const entity: Entity = {
    url,
    status: 'idle',
    parent: spawn.parent ?? null,
    createdAt: await ctx.date.toJSON(),
    timeline: newTimeline(stream),
  };
  await record(ctx, options, entity, [{ kind: 'spawned', ...spawn }], ownerOf?.(entity as E));
  await keepRow(ctx, options, entity);
  return entity as E;
}

/** The entity, if it was ever spawned. Throws a TerminalError where it was forgotten, or is another tenant's. */
export async function findEntity<E extends Entity = Entity>(
  ctx: ObjectContext,
  options: AgentOptions,
  ownerOf?: OwnerOf<E>,
): Promise<E | null> {
  const entity = await ctx.get<E>(ENTITY_STATE);
  if (!entity) return null;
  // Two tenants on one runtime with GATEWAY_RUNTIME_KEY_TEMPLATE={id} would share objects. An agent's own handlers have no such header.
  const url = ctx.request().headers.get('x-entity-url') ?? entity.url;
  if (entity.url !== url) throw new TerminalError(`this object is ${entity.url}, not ${url}`);
  if (entity.forgotten) throw new TerminalError(`${url} was forgotten`, { errorCode: 410 });
  await record(ctx, options, entity, [], ownerOf?.(entity));
  return entity;
}

/** Stores the entity together with the events that describe the change, and sends the events. */
export async function record(
  ctx: ObjectContext,
  options: AgentOptions,
  entity: Entity,
  events: NewEvent[],
  owner: Omit<TimelineOwner, 'save'> = {},
): Promise<void> {
  const { timeline } = entity;
  timeline.unsent.push(...events);
  if (timeline.unsent.length === 0) return;
  const save = () => saveEntity(ctx, entity);
  save();
  await sendUnsent(ctx, options, timeline, { ...owner, save });
}

/** Stores the entity without an event. */
export function saveEntity(ctx: ObjectContext, entity: Entity): void {
  ctx.set(ENTITY_STATE, entity);
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

/** Names the command in the events that it caused, so that its sender finds them. */
export function requestIdOf(ctx: ObjectContext): { invocationId: string; requestId?: string } {
  const { id: invocationId, headers } = ctx.request();
  const requestId = headers.get('x-request-id');
  return { invocationId, ...(requestId !== undefined && { requestId }) };
}

export function addressOf(ctx: ObjectContext): { url: string; stream: string } {
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
