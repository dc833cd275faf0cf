import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { object, type ObjectContext, type ObjectSharedContext } from '@restatedev/restate-sdk';
import { startRestate, type RunningRestate } from '../../local/stack/restate.ts';
import { AgentGateway, type APIError } from '../../packages/client/src/index.ts';
import { API_KEY, AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { registerAgents, type RegisteredAgents } from '../support/restate.ts';

const COMMANDS = 500;
const INTERVAL_MS = 20;
const KILL_AT = 100;
const ENTITIES = 10;
const DOWN_MS = 4_000;

describe('commands while the real runtime is killed with -9 and started again', () => {
  let folder: string;
  let restate: RunningRestate;
  let agents: RegisteredAgents;
  let gateway: MeasuredGateway;
  const more: MeasuredGateway[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-faults-'));
    restate = await startRestate({ dataDir: folder });
    agents = await registerAgents([counterAgent()], restate.adminUrl);
    gateway = await startGatewayToIt({ GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '30000' });
  });
  afterAll(async () => {
    for (const each of more) await each.stop();
    await agents?.stop();
    await restate?.stop();
    await rm(folder, { recursive: true });
  });

  /** Kills it at the right command of a row, and starts it again. Resolves with the outcome of each command. */
  async function sendThroughRestart<T>(send: (index: number) => Promise<T>): Promise<T[]> {
    const underWay: Promise<T>[] = [];
    let restarted: Promise<void> | undefined;
    for (let index = 0; index < COMMANDS; index++) {
      underWay.push(send(index));
      if (index === KILL_AT)
        restarted = restate
          .kill()
          .then(() => sleep(DOWN_MS))
          .then(() => restate.restart());
      await sleep(INTERVAL_MS);
    }
    await restarted;
    return Promise.all(underWay);
  }

  const onceEach = (name: string) =>
    Object.fromEntries(Array.from({ length: COMMANDS }, (_, index) => [`${name}-${index}`, 1]));

  // They were given up after two seconds of their fifteen, and it was the clients that tried again.
  it('accepts 500 keyed commands at 50 a second with a 202 each, and handles each exactly once', async () => {
    const statuses = await sendThroughRestart((index) =>
      send(gateway.url, `key-${index}`, { 'idempotency-key': `key-${index}` }),
    );
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(await effects(restate.ingressUrl, 'key')).toEqual(onceEach('key'));
  });

  // Each command waited 14.7 s for its 502, which a client with a timeout of 5 s never saw.
  it('tells those who come late at once, and the client library brings each through, handled once', async () => {
    const hasty = await startGatewayToIt({ GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '500' });
    const { agents: commands } = new AgentGateway({ url: hasty.url, apiKey: API_KEY });
    const refusals: APIError[] = [];
    const onRetry = (error: APIError) => void refusals.push(error);
    await sendThroughRestart((index) => {
      const text = `client-${index}`;
      return commands.send(`faults-counter/${entityOf(text)}`, { text }, { onRetry });
    });
    expect(await effects(restate.ingressUrl, 'client')).toEqual(onceEach('client'));

    const unsent = refusals.filter(({ isUndone }) => isUndone);
    expect(unsent.length).toBeGreaterThan(COMMANDS / 10);
    expect(new Set(unsent.map(({ code, retryAfterMs }) => [code, retryAfterMs].join()))).toEqual(
      new Set(['upstream_unreachable,1000']),
    );
    expect(await hasty.value('gateway_runtime_outage_seconds')).toBe(0);
  });

  // 502 after 1.9 s, as the last attempt's failure decided.
  it.each([
    ['with a key of a gateway that had connections to it', { 'idempotency-key': 'kept' }, 0],
    ['without a key of a gateway that had connections to it', {}, 1],
    ['with a key of a gateway that never had one', { 'idempotency-key': 'kept' }, 2],
    ['without a key of a gateway that never had one', {}, 3],
  ])('keeps a command %s until it is back', async (_, headers, index) => {
    await restate.kill();
    const its =
      index < 2 ? gateway : await startGatewayToIt({ GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '30000' });
    const kept = send(its.url, `kept-${index}`, headers);
    await its.until('gateway_waiting_commands', {}, 1);
    await restate.restart();
    expect(await kept).toBe(202);
    expect(await effects(restate.ingressUrl, 'kept')).toMatchObject({ [`kept-${index}`]: 1 });
  });

  async function startGatewayToIt(env: Record<string, string>): Promise<MeasuredGateway> {
    const another = await startMeasuredGateway({
      GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl,
      ...env,
    });
    more.push(another);
    return another;
  }
});

/** Counts in Restate's state how often each message was handled. The count commits with the invocation. */
function counterAgent() {
  return object({
    name: 'faults-counter',
    handlers: {
      wake: async (ctx: ObjectContext, message: { text: string }) => {
        ctx.set(message.text, ((await ctx.get<number>(message.text)) ?? 0) + 1);
      },
      // Exclusive, so that it comes after all that was sent before it.
      effects: async (ctx: ObjectContext | ObjectSharedContext) => {
        const counts: Record<string, number | null> = {};
        for (const key of await ctx.stateKeys()) counts[key] = await ctx.get<number>(key);
        return counts;
      },
    },
  });
}

async function send(url: string, text: string, headers = {}): Promise<number> {
  const response = await fetch(`${url}/api/a/faults-counter/${entityOf(text)}/send`, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ text }),
  });
  await response.arrayBuffer();
  return response.status;
}

function entityOf(text: string): string {
  return `e${Number(/\d+$/.exec(text)?.[0]) % ENTITIES}`;
}

/** How often each message that begins so was handled. */
async function effects(ingressUrl: string, name: string): Promise<Record<string, number>> {
  const all: Record<string, number> = {};
  for (let entity = 0; entity < ENTITIES; entity++) {
    const response = await fetch(`${ingressUrl}/faults-counter/e${entity}/effects`, {
      method: 'POST',
    });
    Object.assign(all, await response.json());
  }
  return Object.fromEntries(Object.entries(all).filter(([text]) => text.startsWith(`${name}-`)));
}
