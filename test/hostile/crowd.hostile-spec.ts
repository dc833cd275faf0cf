import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { askHoldings, type Holdings } from '../soak/holdings.ts';
import { Random } from '../soak/random.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { newFolder } from '../support/new-folder.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { shareOf } from '../support/share.ts';
import { until } from '../support/until.ts';
import type { Answer, Answers } from './answers.ts';
import { behave, BEHAVIOURS, type Planned } from './behaviours.ts';
import { playClient, randomManner, type CrowdClient, type Outcome } from './crowd-client.ts';
import {
  EXCHANGES,
  EXPIRING,
  ID,
  MAX_BODY_BYTES,
  TOKEN_PREFIX,
  type Credential,
  type Exchange,
} from './exchanges.ts';
import { expectAtRest } from './gateway-state.ts';
import { onlyValue } from './message-reader.ts';
import { CREDENTIAL } from './mutations.ts';
import { ANSWER_FOR, unitOf } from './pattern.ts';
import { recordedGateway, type UpstreamRequest } from './recording-upstream.ts';

const ROUNDS = Array.from({ length: shareOf(12) }, (_, round) => round);
const EXCHANGES_PER_ROUND = 80;
const MAX_PIPELINED = 12;
const SHARING = 3;
/** Longer than this process, in which the upstream is too, stands still on a busy machine. */
const UPSTREAM_TIMEOUT_MS = '8000';
const HEAP_MIB = 192;
/** The most growth of the heap after the first round. A hash table that has grown does not shrink. */
const MAX_GROWTH_BYTES = 16 * 1_048_576;
const SEED = process.env.HOSTILE_SEED ?? '';

/** An exchange of a round. Several clients may share it. */
interface Played extends Exchange {
  id: string;
  bytes: number;
}

interface Party {
  asked: Played[];
  client: CrowdClient;
}

describe(`a crowd of clients before an upstream that may do anything (HOSTILE_SEED=${SEED})`, () => {
  const PROBE = join(import.meta.dirname, '../soak/probe.ts');
  const played = new Map<string, Played>();
  const folder = forAllTests(newFolder);
  const probeSocket = (): string => join(folder.path, 'probe.sock');
  let tokens: Record<Credential, string>;
  let afterFirst: Holdings | undefined;

  beforeAll(async () => {
    tokens = {
      key: API_KEY,
      token: await mint(3_600),
      expiring: '',
      expired: await mint(-600),
      wrong: 'a-key-that-is-not-known',
      none: '',
    };
  });
  const { gateway, upstream } = recordedGateway(
    (request) => {
      const exchange = played.get(idIn(request.target) ?? '');
      if (!exchange?.upstream) return void request.socket.destroy();
      const { behaviour } = exchange.upstream;
      const play = (): void => behave(request, behaviour, plannedFor(exchange));
      if (behaviour.isEarly) play();
      else request.onWhole = play;
    },
    () => ({
      nodeArgs: ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`, '--import', PROBE],
      env: {
        GATEWAY_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
        GATEWAY_LIVE_TIMEOUT_MS: UPSTREAM_TIMEOUT_MS,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: UPSTREAM_TIMEOUT_MS,
        SOAK_PROBE_SOCKET: probeSocket(),
      },
    }),
  );

  it.each(ROUNDS)(
    'round %d: every answer is right and for who asked, and all is given back',
    async (round) => {
      const random = Random.for(SEED, 'round', round);
      tokens.expiring = await mint(random.between(1, 1.9));
      upstream.seen.splice(0);
      const parties = partiesOf(random, round);
      const roundOver = Promise.withResolvers<void>();
      const playing = parties.map(({ client }) =>
        playClient(client, gateway.port, roundOver.promise),
      );
      const stopped = (index: number): boolean => parties[index]?.client.manner.kind === 'stops';
      await Promise.all(playing.filter((_, index) => !stopped(index)));
      roundOver.resolve();
      const outcomes = await Promise.all(playing);

      const faults = parties.flatMap((party, index) => faultsOf(party, outcomes[index]!));
      expect([...faults, ...upstream.seen.flatMap(judgeSeen)]).toEqual([]);
      expect(upstream.faults).toEqual([]);
      await expectAtRest(gateway, upstream);
      await expectNoGrowth();
    },
    90_000,
  );

  function mint(ttlSeconds: number): Promise<string> {
    return mintReadToken(READ_TOKEN_SECRET, { prefix: TOKEN_PREFIX, ttlSeconds });
  }

  /** Connections on which the exchanges of a round are asked; all exchanges come in the course of four rounds. */
  function partiesOf(random: Random, round: number): Party[] {
    const deck = shuffled(EXCHANGES, Random.for(SEED, 'deck'));
    const left = Array.from({ length: EXCHANGES_PER_ROUND }, (_, index) => {
      const at = (round * EXCHANGES_PER_ROUND + index) % deck.length;
      return begin(random, deck[at]!);
    });
    const parties = EXPIRING.map((each) => party(random, [begin(random, each)]));
    while (left.length > 0) {
      const most = random.oneIn(3) ? random.whole(2, MAX_PIPELINED) : 1;
      const asked: Played[] = [];
      do asked.push(left.pop()!);
      while (asked.length < most && left.length > 0 && !asked.at(-1)?.isLast);
      const [{ request, upstream: reached }] = asked as [Played];
      // Who shares a read that is no live one waits for its end.
      const mayShare =
        request.startsWith('GET ') && reached?.behaviour !== BEHAVIOURS['silent body'];
      const isShareable = asked.length === 1 && mayShare;
      const clients = isShareable && random.oneIn(2) ? SHARING : 1;
      for (let count = 0; count < clients; count++) parties.push(party(random, asked));
    }
    return parties;
  }

  function begin(random: Random, exchange: Exchange): Played {
    const id = `e${String(played.size).padStart(6, '0')}x`;
    const bytes =
      exchange.upstream?.behaviour.bytes ?? random.whole(100, random.pick([3_000, 300_000]));
    const one = { ...exchange, id, bytes };
    played.set(id, one);
    return one;
  }

  function party(random: Random, asked: Played[]): Party {
    const last = asked.at(-1)!;
    const isExpiring = last.credential === 'expiring';
    const manner = randomManner(random);
    if (isExpiring) manner.kind = 'plain';
    const requests = asked.map(({ id, credential, request }) =>
      request.replaceAll(ID, id).replace(CREDENTIAL, tokens[credential]),
    );
    let later: string | undefined;
    if (manner.kind === 'plain' && last.request.includes('\r\nExpect: ')) {
      const [head = '', body] = requests.pop()!.split('\r\n\r\n');
      requests.push(`${head}\r\n\r\n`);
      later = body;
    }
    const isDone = ({ all, wholeCount }: Answers): boolean => {
      if (manner.kind === 'half-closes') return false;
      if (wholeCount === asked.length) return true;
      const isEndless = last.upstream?.behaviour.kind === 'endless' && !isExpiring;
      return isEndless && all.length === asked.length && all.at(-1)!.bytes >= last.bytes;
    };
    const client: CrowdClient = {
      manner,
      methods: asked.map(methodOf),
      bytes: Buffer.from(requests.join('')),
      later: later === undefined ? undefined : Buffer.from(later),
      isDone,
    };
    return { asked, client };
  }

  /** What is wrong with a request that the upstream got. */
  function judgeSeen({ method, target, body, isWhole }: UpstreamRequest): string[] {
    const id = idIn(target) ?? '';
    const { upstream: expected } = played.get(id) ?? {};
    const seen = `${method} ${target}`;
    if (!expected) return [`${seen} must not come`];
    if (seen !== expected.line.replaceAll(ID, id)) return [`${seen} is not what was asked`];
    const text = body.toString('latin1');
    const whole = expected.body.replaceAll(ID, id);
    return (isWhole ? text === whole : whole.startsWith(text)) ? [] : [`${seen} has another body`];
  }

  /** All that the process holds is as after the first round. */
  async function expectNoGrowth(): Promise<void> {
    for (const socket of upstream.openSockets) socket.destroy();
    let now = await askHoldings(probeSocket());
    afterFirst ??= now;
    const { heapUsed, resources } = afterFirst;
    let more: string[] = [];
    await until(
      () => `no more resources than after the first round: ${more.join()}`,
      async () => {
        now = await askHoldings(probeSocket());
        const counts = Object.entries(now.resources);
        more = counts.flatMap(([kind, count]) => (count > (resources[kind] ?? 0) ? [kind] : []));
        return more.length === 0;
      },
    );
    expect(now.heapUsed - heapUsed).toBeLessThan(MAX_GROWTH_BYTES);
  }
});

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const drawn = items.map((item) => ({ item, at: random.next() }));
  return drawn.sort((one, other) => one.at - other.at).map(({ item }) => item);
}

function idIn(target: string): string | undefined {
  return /e\d{6}x/.exec(target)?.[0];
}

function methodOf({ request }: Exchange): string {
  return request.slice(0, request.indexOf(' '));
}

function isCommand({ request }: Exchange): boolean {
  return request.startsWith('POST /api/');
}

function plannedFor(exchange: Played): Planned {
  const { id, bytes, upstream } = exchange;
  const accepted = `{"invocationId":"inv_${id}","status":"Accepted"}`;
  if (isCommand(exchange)) return { id, unit: accepted, bytes: accepted.length };
  const isEvents = upstream?.behaviour.isEvents === true;
  const unit = unitOf(id, isEvents);
  // Events come whole.
  return { id, unit, bytes: isEvents ? bytes - (bytes % unit.length) : bytes };
}

/** A line for each thing that a client got and must not get, or missed. */
function faultsOf({ asked, client: { manner } }: Party, { answers, end }: Outcome): string[] {
  const { all } = answers;
  const faults = all.map((answer, index) => {
    const exchange = asked[index];
    const problem = exchange ? problemOf(exchange, answer, manner.kind) : 'is one too many';
    return problem && `${exchange?.name}: ${answer.status} ${problem}`;
  });
  if (answers.fault !== undefined) faults.push(`no HTTP: ${answers.fault}`);
  if (end === 'stuck') faults.push(`nothing more came behind ${all.length} answers, and no end`);
  const [last, next] = [all.at(-1), asked[all.length]];
  const isEnded = last && (!last.isWhole || onlyValue(last.head, 'connection') === 'close');
  const mayMiss =
    manner.kind === 'half-closes' || isEnded || asked.some(({ isUnparsed }) => isUnparsed);
  if (end === 'closed' && next && !mayMiss && !mayVanish(next))
    faults.push(`${next.name}: got no answer`);
  return faults.flatMap((text) => (text ? [`${asked[0]?.id} (${manner.kind}): ${text}`] : []));
}

function problemOf(
  exchange: Played,
  answer: Answer,
  manner: CrowdClient['manner']['kind'],
): string | undefined {
  const { id, own, upstream } = exchange;
  const { status, head, text, isWhole } = answer;
  const owner = onlyValue(head, ANSWER_FOR);
  const said = text.slice(0, 300);
  if (owner !== undefined && owner !== id) return `is for ${owner}`;
  if (onlyValue(head, 'x-request-id') !== id && !exchange.isUnparsed) return 'has another id';
  if (answer.bodyFault !== undefined) return `has another body ${answer.bodyFault}`;
  if (owner === undefined) {
    if (!own.includes(status)) return `is not the upstream's: ${said}`;
    if (status === 502 && !isKnownFailure(exchange, answer)) return `is ${said}`;
    if (status === 401 && exchange.credential === 'expiring' && !text.includes('"token_expired"'))
      return `is ${said}`;
    const isAccepted = text.includes(`"inv_${id}"`) && text.includes(`hostile/${id}`);
    return status === 202 && !isAccepted ? `is for another: ${said}` : undefined;
  }
  if (!upstream) return 'is of the upstream';
  const { kind, status: wanted = 200 } = upstream.behaviour;
  if (kind === 'refused') return 'is of the upstream';
  if (status !== wanted) return `is not ${wanted}`;
  const planned = plannedFor(exchange);
  if (exchange.credential === 'expiring')
    return isWhole && answer.bytes % planned.unit.length > 0
      ? 'ends inside of an event'
      : undefined;
  if (!isWhole) {
    const mayBreak =
      kind !== 'exact' || ['stops', 'aborts the answer', 'half-closes'].includes(manner);
    return mayBreak ? undefined : `breaks off after ${answer.bytes} bytes`;
  }
  if (methodOf(exchange) === 'HEAD' || wanted !== 200) return undefined;
  if (kind === 'broken' || kind === 'endless') return 'ends as if it were whole';
  return answer.bytes === planned.bytes
    ? undefined
    : `has ${answer.bytes} bytes of ${planned.bytes}`;
}

/** Whether a client may see no more than a closed connection: it broke off before a head was sent, or while the client still sends. */
function mayVanish({ upstream, own }: Exchange): boolean {
  return /^(?:broken|lost)$/.test(upstream?.behaviour.kind ?? '') || own.includes(413);
}

/** Of a right answer to a write only the connection may have been lost. */
function isKnownFailure({ upstream }: Played, { text }: Answer): boolean {
  const kind = upstream?.behaviour.kind;
  return kind === 'exact' || kind === 'endless'
    ? text.includes('"upstream_unreachable"')
    : /"upstream_(?:unreachable|timeout|invalid_response)"|^$/.test(text);
}
