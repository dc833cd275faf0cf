import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import {
  ACCEPTED,
  freePort,
  listenAsRuntime,
  sendCommand,
  type CommandOutcome,
  type ListeningRuntime,
} from '../support/runtime.ts';

const SEED = process.env.HOSTILE_SEED ?? '';
const ROUNDS = 40;
const COMMANDS_IN_ROUND = 20;
const MAX_ROUND_MS = 250;
/** What the runtime does with a connection or a request. */
const MOODS = [
  'accepts',
  'is slow',
  'hangs',
  'resets connections',
  'resets requests',
  'cuts',
  '503',
  '404',
] as const;

interface Command {
  id: string;
  isKeyed: boolean;
  /** Undefined if its client disconnected before. */
  outcome: CommandOutcome | undefined;
}

describe(`commands to a runtime that flaps (HOSTILE_SEED=${SEED})`, () => {
  let runtime: ListeningRuntime | undefined;
  let mood: (typeof MOODS)[number] = 'accepts';
  /** How often each entity's command arrived whole. */
  const arrivals = new Map<string, number>();
  const accepted = new Set<string>();

  let port: number;
  beforeAll(async () => void (port = await freePort()));
  const gateway = forAllTests(() =>
    startMeasuredGateway({
      GATEWAY_RUNTIME_INGRESS_URL: `http://127.0.0.1:${port}`,
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '700',
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '1500',
      GATEWAY_MAX_CONNECTIONS: '4000',
    }),
  );
  afterAll(stop);

  async function listen(): Promise<void> {
    runtime ??= await listenAsRuntime(port, answer, (socket) => {
      if (mood === 'resets connections') socket.resetAndDestroy();
    });
  }

  async function stop(): Promise<void> {
    const stopping = runtime;
    runtime = undefined;
    await stopping?.stop();
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const id = request.url?.split('/')[2] ?? '';
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
    const accept = (): void => {
      accepted.add(id);
      response.writeHead(202).end(ACCEPTED);
    };
    if (mood === 'accepts') accept();
    else if (mood === 'is slow') setTimeout(accept, 900).unref();
    else if (mood === 'resets requests') request.socket.resetAndDestroy();
    else if (mood === 'cuts')
      request.socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 99\r\n\r\n{');
    else if (mood === '503' || mood === '404') response.writeHead(Number(mood)).end('{}');
  }

  async function play(): Promise<Command[]> {
    const random = Random.for(SEED, 'flapping runtime');
    const commands: Promise<Command>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      mood = random.pick(MOODS);
      await (random.oneIn(3) ? stop() : listen());
      for (let index = 0; index < COMMANDS_IN_ROUND; index++) {
        const leaving = new AbortController();
        if (random.oneIn(3)) setTimeout(() => leaving.abort(), random.between(0, 1_000));
        commands.push(command(`r${round}c${index}`, random.oneIn(2), leaving));
      }
      await sleep(random.between(0, MAX_ROUND_MS));
    }
    mood = 'accepts';
    await listen();
    return Promise.all(commands);
  }

  async function command(id: string, isKeyed: boolean, leaving: AbortController): Promise<Command> {
    const key: Record<string, string> = isKeyed ? { 'idempotency-key': id } : {};
    const outcome = await sendCommand(gateway.url, key, id, leaving).catch(() => undefined);
    return { id, isKeyed, outcome };
  }

  function faultsOf({ id, isKeyed, outcome }: Command): string[] {
    const times = arrivals.get(id) ?? 0;
    const faults: string[] = [];
    if (!isKeyed && times > 1) faults.push(`${id} has no key and arrived ${times} times`);
    if (!outcome) return faults;
    const { status, body } = outcome;
    if (![202, 404, 502].includes(status)) faults.push(`${id} got ${status}`);
    if (status === 202 && !accepted.has(id)) faults.push(`${id} got 202 from nobody`);
    if (body.sent === false && times > 0) faults.push(`${id} arrived, and was called unsent`);
    return faults;
  }

  it('arrive once at most without a key, are told the truth, and are given back', async () => {
    const commands = await play();
    expect(commands.flatMap(faultsOf)).toEqual([]);
    await gateway.until('gateway_open_commands', {}, 0);
    await gateway.until('gateway_waiting_commands', {}, 0);
    await gateway.until('gateway_runtime_outage_seconds', {}, 0);
    // Each kind of end was seen.
    const ends = commands.map(({ outcome }) =>
      outcome ? `${outcome.status} ${outcome.body.sent !== false}` : 'gone',
    );
    expect([...new Set(ends)]).toEqual(
      expect.arrayContaining(['202 true', '502 true', '502 false', 'gone']),
    );
    expect((await sendCommand(gateway.url, {}, 'after')).status).toBe(202);
  });
});
