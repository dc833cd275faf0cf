import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { HeldRequest, HeldRequests } from './held-upstream.ts';
import type { Answer } from './reader.ts';
import { LIVE_READS, MODES, sharingGateway } from './sharing-gateway.ts';

const MIB = 1_048_576;
const READERS = 3;
/** One request at most goes out beside others in this time. */
const MAX_WAIT_MS = 50;
const READS = [
  ...LIVE_READS,
  { kind: 'catch-up', target: (name: string) => `/streams/t/${name}?offset=1_1` },
];

describe.each(MODES)('large answers to $mode reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  /** Holds until all readers are there, then answers whatever comes. */
  async function readAll(
    { target, requests }: { target: string; requests: HeldRequests },
    answer: (request: HeldRequest) => void,
  ): Promise<Answer[]> {
    const readers = await sharing.park(READERS, target);
    requests.each(answer);
    return Promise.all(readers.map((reader) => reader.ended));
  }

  describe.each(READS)('($kind)', ({ target: targetOf, kind }) => {
    it.each([
      ['just under 1 MiB', MIB - 1],
      ['of 1 MiB', MIB],
      ['just over 1 MiB', MIB + 1],
      ['of 3 MiB', 3 * MIB],
    ])(
      '%s are the exact bytes for each reader, whether their length is told or not',
      async (_, size) => {
        for (const isTold of [true, false]) {
          const body = randomBytes(size);
          const read = sharing.newRead(targetOf);
          const startedAtMs = performance.now();
          const answers = await readAll(read, (request) => {
            request.begin(200, { etag: '"large"', ...(isTold ? withLength(size) : {}) });
            request.response.end(body);
          });
          expect(
            answers.map((answer) => [answer.status, answer.headers.etag, answer.isWhole]),
          ).toEqual(answers.map(() => [200, '"large"', true]));
          expect(answers.map((answer) => answer.body.equals(body))).toEqual(
            answers.map(() => true),
          );
          if (isShared && size <= MIB) {
            const mostOfCatchUps = Math.max(2, 1 + (performance.now() - startedAtMs) / MAX_WAIT_MS);
            expect(read.requests.all.length).toBeLessThanOrEqual(
              kind === 'catch-up' ? mostOfCatchUps : 1,
            );
          }
        }
      },
    );
  });

  it.each([
    ['stream', 'shared', MIB - 1000],
    ['stream', 'not shared', 12 * MIB],
    ['catch-up', 'not shared', 12 * MIB],
  ])('(%s), %s, are not held up by one who does not read', async (kind, _, size) => {
    const body = randomBytes(size);
    const { target, requests } = sharing.newRead(
      READS.find((read) => read.kind === kind)?.target ?? String,
    );
    const slow = sharing.read(target);
    slow.pause();
    await sharing.takenIn();
    const others = await sharing.park(2, target);
    requests.each((request) => request.answer(200, {}, body));
    for (const reader of others) expect((await reader.ended).body.equals(body)).toBe(true);

    slow.goOn();
    const answer = await slow.ended;
    expect([answer.isWhole, answer.body.equals(body)]).toEqual([true, true]);
  });
});

function withLength(bytes: number): Record<string, string> {
  return { 'content-length': String(bytes) };
}
