import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { object, type ObjectContext, type ObjectSharedContext } from '@restatedev/restate-sdk';
import { startRestate, type RunningRestate } from '../../local/stack/restate.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { registerAgents, type RegisteredAgents } from '../support/restate.ts';

const COMMANDS = 500;
const INTERVAL_MS = 20;
const KILL_AT = 100;
const DOWN_MS = 3_000;
const RETRY_PAUSE_MS = 100;
const ENTITIES = 10;

describe('commands while the real runtime is killed with -9 and started again', () => {
  let folder: string;
  let restate: RunningRestate;
  let agents: RegisteredAgents;
  let gateway: TestGateway;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-faults-'));
    restate = await startRestate({ dataDir: folder });
    agents = await registerAgents([counterAgent()], restate.adminUrl);
    gateway = await startTestGateway({ GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl });
  });
  afterAll(async () => {
    await gateway?.stop();
    await agents?.stop();
    await restate?.stop();
    await rm(folder, { recursive: true });
  });

  it('accepts 500 keyed commands at 50 a second in the end, and handles each exactly once', async () => {
    const statuses: number[] = [];
    const send = async (index: number): Promise<void> => {
      for (;;) {
        const status = await sendKeyed(gateway.url, index);
        statuses.push(status);
        if (status !== 502) return;
        await sleep(RETRY_PAUSE_MS);
      }
    };
    const underWay: Promise<void>[] = [];
    let restarted: Promise<void> | undefined;
    for (let index = 0; index < COMMANDS; index++) {
      underWay.push(send(index));
      if (index === KILL_AT) {
        restarted = restate.kill().then(async () => {
          await sleep(DOWN_MS);
          await restate.restart();
        });
      }
      await sleep(INTERVAL_MS);
    }
    await Promise.all([...underWay, restarted]);

    expect(statuses.filter((status) => status === 202)).toHaveLength(COMMANDS);
    expect(new Set(statuses)).toEqual(new Set([202, 502]));

    const handled = await effects(restate.ingressUrl);
    const expected = Array.from({ length: COMMANDS }, (_, index) => [`key-${index}`, 1]);
    expect(handled).toEqual(Object.fromEntries(expected));
  }, 60_000);
});

/** Counts in its state how often each message was handled: that changes with the invocation or not at all. */
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

async function sendKeyed(url: string, index: number): Promise<number> {
  const response = await fetch(`${url}/api/a/faults-counter/e${index % ENTITIES}/send`, {
    method: 'POST',
    headers: {
      ...AUTHORIZED,
      'content-type': 'application/json',
      'idempotency-key': `key-${index}`,
    },
    body: JSON.stringify({ text: `key-${index}` }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function effects(ingressUrl: string): Promise<Record<string, number>> {
  const all: Record<string, number> = {};
  for (let entity = 0; entity < ENTITIES; entity++) {
    const response = await fetch(`${ingressUrl}/faults-counter/e${entity}/effects`, {
      method: 'POST',
    });
    Object.assign(all, await response.json());
  }
  return all;
}
