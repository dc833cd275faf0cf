import { AgentGateway } from '@agent-gateway/client';
import {
  catalogRowWriter,
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
  type AgentOptions,
  type Entity,
  type NewEvent,
  type ReadMessage,
} from '@agent-gateway/client/agent';
import { object, serve, TerminalError } from '@restatedev/restate-sdk';

const { GATEWAY_URL = '', GATEWAY_API_KEY = '', PORT = '9081' } = process.env;
const { CATALOG_URL = '', CATALOG_TOKEN } = process.env;
const options: AgentOptions = {
  gatewayUrl: GATEWAY_URL,
  apiKey: GATEWAY_API_KEY,
  ...(CATALOG_URL && { catalogUrl: CATALOG_URL }),
  rowService: 'shoutRow',
};

/** Answers each message in capital letters. */
const shout = object({
  name: 'shout',
  options: { retryPolicy: retryForever },
  handlers: {
    spawn: command(async (ctx, body) => {
      const spawn = readSpawn(body);
      if (!spawn) throw new TerminalError('not a spawn', { errorCode: 400 });
      await openEntity(ctx, options, spawn);
    }),

    wake: command(async (ctx, body) => {
      const entity = await openEntity(ctx, options);
      await record(ctx, options, entity, answer(entity, readMessage(body), requestIdOf(ctx)));
    }),

    control: command(async (ctx, body) => {
      const control = readControl(body);
      const entity = await findEntity(ctx, options);
      if (!control || !entity) throw new TerminalError('nothing to control', { errorCode: 404 });
      if (control.verb === 'archive') entity.status = 'archived';
      const { status } = entity;
      await record(ctx, options, entity, [
        { kind: 'status', status, ...control, ...requestIdOf(ctx) },
      ]);
      await keepRow(ctx, options, entity);
    }),
  },
});

function answer(entity: Entity, read: ReadMessage, request: { requestId?: string }): NewEvent[] {
  if ('problem' in read) return [{ kind: 'error', message: read.problem, ...request }];
  const { content, text } = read.message;
  return [
    { kind: 'message', content, ...request },
    {
      kind: 'reply',
      replyTo: entity.timeline.nextSeq,
      content: [{ type: 'text', text: text.toUpperCase() }],
    },
  ];
}

const rows = CATALOG_URL ? [catalogRowWriter(CATALOG_URL, 'shoutRow', CATALOG_TOKEN)] : [];
const port = await serve({ services: [shout, ...rows], port: Number(PORT) });

// Restate runs on this machine, too. `force`: what was registered at this address before is replaced.
const gateway = new AgentGateway({ url: GATEWAY_URL, apiKey: GATEWAY_API_KEY });
await gateway.deployments.register(`http://127.0.0.1:${port}`, { force: true });
console.log(`shout is registered, on port ${port}`);
