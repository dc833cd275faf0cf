import { afterAll, beforeAll, expect } from '@jest/globals';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { testGateway } from '../support/scripted-gateway.ts';
import {
  type HeldRequests,
  startHeldUpstream,
  WITNESS,
  type HeldUpstream,
} from './held-upstream.ts';
import { Reader, type Answer, type ReadOptions } from './reader.ts';

/** Both settings. A reader must see the same, whatever the number of upstream requests. */
export const MODES = [
  { mode: 'shared', isShared: true },
  { mode: 'unshared', isShared: false },
] as const;

/** The reads that wait for new data, and the upstream path of each. */
export const LIVE_READS = [
  { kind: 'stream', target: (name: string) => `/streams/t/${name}?offset=1_1&live=long-poll` },
  {
    kind: 'shape',
    target: (name: string) => `/shapes/v1/shape?table=entities&offset=1_0&handle=${name}&live=true`,
  },
] as const;

/** The reads that are answered at once. */
export const CATCH_UPS = [
  { kind: 'stream', target: (name: string) => `/streams/t/${name}?offset=-1` },
  {
    kind: 'shape',
    target: (name: string) => `/shapes/v1/shape?table=entities&offset=-1&handle=${name}`,
  },
];

/** The reads that are event streams. */
export const EVENT_READS = [
  { kind: 'stream', target: (name: string) => `/streams/t/${name}?offset=1_1&live=sse` },
  ...['live_sse', 'experimental_live_sse'].map((parameter) => ({
    kind: `shape by ${parameter}`,
    target: (name: string) =>
      `/shapes/v1/shape?table=entities&offset=1_0&handle=${name}&live=true&${parameter}=true`,
  })),
];

/** An event with its control event, as the history store sends them. */
export function numberedEvent(number: number, text = ''): string {
  const control = `event: control\ndata: {"streamNextOffset":"1_${number}"}\n\n`;
  return `event: data\ndata: {"seq":${number},"text":"${text}"}\n\n${control}`;
}

let names = 0;
const newName = (): string => `name-${names++}-`;

export type SharingGateway = ReturnType<typeof sharingGateway>;

/** A gateway with sharing on or off, before an upstream that answers on command; for the tests of a `describe`. */
export function sharingGateway(isShared: boolean, env: Record<string, string> = {}) {
  let upstream: HeldUpstream;
  const readers = new Set<Reader>();
  beforeAll(async () => void (upstream = await startHeldUpstream()));
  afterAll(() => readers.forEach((reader) => reader.leave()));
  const gateway = testGateway(() => ({
    GATEWAY_HISTORY_URL: `${upstream.url}/v1/stream`,
    GATEWAY_SYNC_URL: upstream.url,
    GATEWAY_SHARED_READS: String(isShared),
    // Longer than any test.
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '60000',
    ...env,
  }));
  afterAll(() => upstream?.stop());

  /** Begins a read. */
  const read = (target: string, options: ReadOptions = {}): Reader => {
    const reader = new Reader(gateway.url + target, options);
    readers.add(reader);
    void reader.ended.then(() => readers.delete(reader));
    return reader;
  };
  /** Resolves once the gateway has taken in whatever was sent to it before. */
  const takenIn = async (): Promise<void> => {
    await Promise.all([...readers].map((reader) => reader.sent()));
    // Node accepts one connection a turn, and a kept one overtakes those that wait: until none does.
    let accepted: number;
    do {
      ({ accepted } = upstream);
      await passWitness(gateway.url);
    } while (upstream.accepted !== accepted);
  };
  return {
    gateway,
    get upstream(): HeldUpstream {
      return upstream;
    },
    /** A name that no other read has, for its target. */
    newName,
    /** A target of its own, and what the upstream gets of it. */
    newRead: (targetOf: (name: string) => string): { target: string; requests: HeldRequests } => {
      const name = newName();
      return { target: targetOf(name), requests: upstream.at(name) };
    },
    read,
    takenIn,
    /** Begins so many equal reads, and resolves once the gateway has taken all of them in. */
    park: async (count: number, target: string, options?: ReadOptions): Promise<Reader[]> => {
      const parked = Array.from({ length: count }, () => read(target, options));
      await takenIn();
      return parked;
    },
    /** How many requests so many readers of one read make at the upstream. */
    requestsOf: (count: number): number => (isShared ? 1 : count),
  };
}

/** Expects that each gets the whole of this answer, with these headers among others. */
export async function expectAnswers(
  readers: readonly (Reader | undefined)[],
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Promise<void> {
  for (const reader of readers) {
    const answer = await reader?.ended;
    expect([answer?.status, answer?.body.toString(), answer?.isWhole]).toEqual([
      status,
      body,
      true,
    ]);
    expect(answer?.headers).toMatchObject(headers);
  }
}

/** What a problem says. */
export function problemOf({ body }: Answer): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

/**
 * Reads behind the others, on the longest way that there is: by a token, a connection of its own, and
 * the upstream. When the second one is answered, those before it have come to where they wait.
 */
export async function passWitness(gatewayUrl: string): Promise<void> {
  for (let time = 0; time < 2; time++) {
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: 60 });
    const headers = { authorization: `Bearer ${token}` };
    const url = `${gatewayUrl}/streams/${WITNESS}-${names++}?live=long-poll`;
    const { body } = await new Reader(url, { headers }).ended;
    if (body.toString() !== WITNESS) throw new Error(`the witness was answered ${body.toString()}`);
  }
}
