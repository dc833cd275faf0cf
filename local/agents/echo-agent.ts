import { object, TerminalError } from '@restatedev/restate-sdk';
import {
  command,
  findEntity,
  keepRow,
  openEntity,
  readControl,
  readMessage,
  readSpawn,
  record,
  requestIdOf,
  retryForever,
} from '../../packages/client/src/agent/index.ts';
import type { AgentOptions, Entity, NewEvent } from '../../packages/client/src/agent/index.ts';

/** Answers each message with its own content. docs/agents.md walks through this file. */
export function echoAgent(options: AgentOptions) {
  return object({
    name: 'echo',
    options: { retryPolicy: retryForever },
    handlers: {
      spawn: command(async (ctx, body) => {
        const spawn = readSpawn(body);
        if (!spawn) throw new TerminalError('not a spawn', { errorCode: 400 });
        await openEntity(ctx, options, spawn);
      }),

      wake: command(async (ctx, body) => {
        const entity = await openEntity(ctx, options);
        await record(ctx, options, entity, answer(entity, body, requestIdOf(ctx)));
      }),

      control: command(async (ctx, body) => {
        const control = readControl(body);
        const entity = await findEntity(ctx, options);
        if (!control || !entity) throw new TerminalError('nothing to control', { errorCode: 404 });
        // An echo ends before anyone could interrupt or pause it, so these commands are only recorded.
        if (control.verb === 'archive') entity.status = 'archived';
        const { status } = entity;
        await record(ctx, options, entity, [
          { kind: 'status', status, ...control, ...requestIdOf(ctx) },
        ]);
        await keepRow(ctx, options, entity);
      }),
    },
  });
}

function answer(entity: Entity, body: Uint8Array, request: { requestId?: string }): NewEvent[] {
  if (entity.status === 'archived') return [{ kind: 'refused', reason: 'archived', ...request }];
  const read = readMessage(body);
  if ('problem' in read) return [{ kind: 'error', message: read.problem, ...request }];
  const { content } = read.message;
  return [
    { kind: 'message', content, ...request },
    { kind: 'reply', replyTo: entity.timeline.nextSeq, content },
  ];
}
