import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askHoldings, type Holdings } from '../soak/holdings.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { behave } from './behaviours.ts';
import { budgetOf, heldOf, moreResources, untilNothing } from './gateway-state.ts';
import { playClient, type Outcome } from './hostile-client.ts';
import { TOKEN_PREFIXES } from './let-in.ts';
import { forgetPatterns } from './pattern.ts';
import { MAX_BODY_BYTES } from './plan-client.ts';
import type { RoundPlan } from './plan.ts';
import { settingsFor, startRecordingUpstream, type UpstreamRequest } from './recording-upstream.ts';
import { idIn } from './request-id.ts';
import { SEED } from './seed.ts';
import { judgeUpstream } from './judge-upstream.ts';
import { Witness, witnessAnswer } from './witness.ts';

const MIB = 1_048_576;
const PROBE = join(import.meta.dirname, '../soak/probe.ts');
const HEAP_MIB = 192;
/** The most resident memory of the process, with its heap, its code and the buffers of sockets. */
const MAX_RESIDENT_BYTES = 640 * MIB;
/** The most growth of the heap over all rounds. A hash table that has grown does not shrink. */
const MAX_GROWTH_BYTES = 16 * MIB;
const UPSTREAM_TIMEOUT_MS = '3000';
const WITNESS = /\/(w\d+)(?=[/?])/;

/** A gateway, upstreams that follow the plan, and a witness that must get correct responses all the time. */
export interface HostileWorld {
  /** Resolves when every client of a round has come to its end, in the order of the plan. */
  play(plan: RoundPlan): Promise<Outcome[]>;
  /** What is wrong behind a round: toward the upstreams, with the witness, and with what is still held. */
  faultsBehind(): Promise<string[]>;
  /** What is wrong when nobody is there any more. */
  faultsAtEnd(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startHostileWorld(): Promise<HostileWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-hostile-'));
  const probeSocket = join(folder, 'probe.sock');
  let answers: RoundPlan['answers'] = {};
  const played: RoundPlan[] = [];
  let mayHaveStrangers = false;
  const strangers: string[] = [];
  const upstream = await startRecordingUpstream((request: UpstreamRequest) => {
    const id = idIn(request.target) ?? WITNESS.exec(request.target)?.[1] ?? '';
    const plan = answers[id] ?? witnessAnswer(id);
    if (plan) return behave(request, id, plan);
    // What a mutation made of a request of one who may ask.
    if (!mayHaveStrangers) strangers.push(`${request.method} ${request.target} is nobody's`);
    request.socket.destroy();
  });
  const gateway = await startGatewayChild({
    nodeArgs: ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`, '--import', PROBE],
    env: {
      ...settingsFor(upstream),
      GATEWAY_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
      GATEWAY_LIVE_TIMEOUT_MS: UPSTREAM_TIMEOUT_MS,
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: UPSTREAM_TIMEOUT_MS,
      SOAK_PROBE_SOCKET: probeSocket,
    },
  });
  const token = (ttlSeconds: number): Promise<string> =>
    mintReadToken(READ_TOKEN_SECRET, { prefix: TOKEN_PREFIXES, ttlSeconds });
  const [lasting, expired] = await Promise.all([token(3_600), token(-10)]);
  const budgetFaults: string[] = [];
  const watchBudget = async (): Promise<void> => {
    const { heldBytes, limitBytes } = await budgetOf(gateway.managementUrl);
    if (!(heldBytes >= 0 && heldBytes <= limitBytes))
      budgetFaults.push(`${heldBytes} bytes are held, of ${limitBytes}`);
    const residentBytes = await gateway.residentBytes();
    if (residentBytes > MAX_RESIDENT_BYTES)
      budgetFaults.push(`the process takes ${residentBytes} bytes`);
  };
  const holdingsOfIdle = async (): Promise<Holdings> => {
    for (const socket of upstream.openSockets) socket.destroy();
    return askHoldings(probeSocket);
  };
  // Everything has been used once.
  const warmUp = new Witness(gateway.port, watchBudget);
  await warmUp.stop();
  const before = await holdingsOfIdle();
  let heapAfterFirst: number | undefined;
  let hasEnded: string | undefined;
  void gateway.exited.then(
    ({ code, signal }) => (hasEnded = `the gateway has ended: ${code ?? signal}`),
  );

  const logFaults = (): string[] =>
    gateway.log
      .filter(
        ({ level, code }) => level === 'error' || level === 'fatal' || code === 'internal_error',
      )
      .map((line) => JSON.stringify(line).slice(0, 1_000));
  let witness = warmUp;

  return {
    play: async (plan) => {
      // A command is sent on although its client has gone, and so may come in the round behind.
      answers = { ...answers, ...plan.answers };
      played.push(plan);
      mayHaveStrangers ||= plan.clients.some(({ manner }) => manner.kind === 'mutated');
      upstream.seen.splice(0);
      witness = new Witness(gateway.port, watchBudget);
      const over = Promise.withResolvers<void>();
      const clientWorld = {
        port: gateway.port,
        seed: SEED,
        roundOver: over.promise,
        credentialOf: async (credential: string, ttlSeconds: number) => {
          const known: Record<string, string | undefined> = {
            key: API_KEY,
            token: lasting,
            expired,
            wrong: 'a-key-that-is-not-known',
          };
          return credential === 'expiring' ? token(ttlSeconds) : known[credential];
        },
      };
      const playing = plan.clients.map((client) => ({
        client,
        outcome: playClient(client, clientWorld),
      }));
      await Promise.all(
        playing
          .filter(({ client }) => client.manner.kind !== 'stopping')
          .map(({ outcome }) => outcome),
      );
      over.resolve();
      const outcomes = await Promise.all(playing.map(({ outcome }) => outcome));
      await witness.stop();
      return outcomes;
    },
    faultsBehind: async () => {
      const faults = [
        ...judgeUpstream(played, upstream.seen),
        ...upstream.faults.splice(0),
        ...strangers.splice(0),
      ];
      if (hasEnded !== undefined) return [...faults, hasEnded, ...gateway.output.slice(-20)];
      const held = await untilNothing(async () => {
        const left = Object.entries(await heldOf(gateway.managementUrl)).filter(
          ([, value]) => value !== 0,
        );
        const abandoned = upstream
          .abandoned()
          .map(({ method, target }) => [`${method} ${target}`, 'is still under way']);
        return [...left, ...abandoned].map((entry) => entry.join(' '));
      });
      forgetPatterns();
      heapAfterFirst ??= (await askHoldings(probeSocket)).heapUsed;
      const isServed = witness.served > 0 ? [] : ['the witness was not served once'];
      return [
        ...faults,
        ...held,
        ...isServed,
        ...witness.faults,
        ...budgetFaults.splice(0),
        ...logFaults(),
      ];
    },
    faultsAtEnd: async () => {
      if (hasEnded !== undefined) return [hasEnded];
      await holdingsOfIdle();
      const more = await untilNothing(() => moreResources(probeSocket, before));
      const grown = (await askHoldings(probeSocket)).heapUsed - (heapAfterFirst ?? 0);
      return grown > MAX_GROWTH_BYTES ? [...more, `the heap has grown by ${grown} bytes`] : more;
    },
    stop: async () => {
      await gateway.kill();
      await upstream.stop();
      await rm(folder, { recursive: true });
    },
  };
}
