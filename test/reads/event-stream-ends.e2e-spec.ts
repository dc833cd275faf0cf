import { describe, expect, it } from '@jest/globals';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import type { HeldRequest } from './held-upstream.ts';
import type { Answer, Reader } from './reader.ts';
import { EVENT_READS, MODES, numberedEvent as event, sharingGateway } from './sharing-gateway.ts';
import { inTime } from '../support/in-time.ts';

/** Two seconds after a token expires, the gateway no longer waits for the end of an event. */
const QUICK_MS = 2_500;
const EVENTS = { 'content-type': 'text/event-stream' };
const TTL_SECONDS = 0.5;
const STREAM = EVENT_READS[0]?.target ?? String;
const SHAPE = EVENT_READS[1]?.target ?? String;

describe.each(MODES)('an end for one reader of $mode event streams', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  const readWithToken = async (target: string, ttlSeconds: number): Promise<Reader> => {
    const prefix = ['/streams', '/shapes'];
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds });
    return sharing.read(target, { headers: { authorization: `Bearer ${token}` } });
  };

  /** Two readers of a stream, both with its first bytes. The token of `short` ends in a moment. */
  async function openPair(targetOf: (name: string) => string, bytes: string) {
    for (let ttlSeconds = TTL_SECONDS; ; ttlSeconds *= 2) {
      const { target, requests } = sharing.newRead(targetOf);
      const long = await readWithToken(target, 60);
      const expiresAtMs = Date.now() + ttlSeconds * 1_000;
      const short = await readWithToken(target, ttlSeconds);
      await sharing.takenIn();
      requests.each((request) => request.begin(200, EVENTS, bytes));
      await Promise.all([long.untilText(bytes), short.untilText(bytes)]);
      // On a busy machine the token may have ended before its reader came.
      if (short.answer.status !== 200) continue;
      const untilExpired = (): Promise<void> => passExpiry(expiresAtMs);
      return { requests: requests.all, short, long, untilExpired };
    }
  }
  const writeAll = (requests: readonly HeldRequest[], bytes: string): void => {
    for (const { response } of requests) if (!response.closed) response.write(bytes);
  };

  it.each(EVENT_READS)('comes at once where a $kind rests between events', ({ target }) =>
    inTime(QUICK_MS, async () => {
      const { requests, short, long } = await openPair(target, event(1));
      expectText(await short.ended, event(1), true);
      writeAll(requests, event(2));
      expect(await long.untilText(event(2))).toBe(event(1) + event(2));
      if (isShared) expect(requests.map(({ wasLeft }) => wasLeft)).toEqual([false]);
      long.leave();
    }),
  );

  // An end before it would give the reader its data twice: it resumes from the offset of the last control.
  it('waits for the control event of a stream, which the others go beyond', () =>
    inTime(QUICK_MS, async () => {
      const [data = '', control = ''] = event(1).split(/(?=event: control)/);
      const { requests, short, long, untilExpired } = await openPair(STREAM, data);
      await untilExpired();
      writeAll(requests, `: ping\n\n${control.slice(0, 20)}`);
      await long.untilText(control.slice(0, 20));
      await sharing.takenIn();
      const rest = control.slice(20) + event(2);
      writeAll(requests, rest);
      expectText(await short.ended, `${data}: ping\n\n${control}`, true);
      expect(await long.untilText(rest)).toBe(`${data}: ping\n\n${control}${event(2)}`);
      long.leave();
    }));

  it('waits for the end of a shape’s event', () =>
    inTime(QUICK_MS, async () => {
      const { requests, short, long, untilExpired } = await openPair(SHAPE, 'data: {"a"');
      await untilExpired();
      writeAll(requests, ':1}\n\ndata: {"b":2}\n\n');
      expectText(await short.ended, 'data: {"a":1}\n\n', true);
      await long.untilText('data: {"b":2}\n\n');
      long.leave();
    }));

  it('is none in order where no boundary comes, and the others still go on', () =>
    inTime(QUICK_MS, async () => {
      const half = `${event(1)}event: data\ndata: {"one half`;
      const { requests, short, long } = await openPair(STREAM, half);
      expectText(await short.ended, half, false);
      writeAll(requests, ' and the other"}\n\n');
      expect(await long.untilText('other"}\n\n')).toBe(`${half} and the other"}\n\n`);
      long.leave();
    }));

  /** Resolves a little behind a token's end, as another reader shows whose token ends then. */
  async function passExpiry(expiresAtMs: number): Promise<void> {
    const ttlSeconds = (expiresAtMs - Date.now()) / 1_000 + 0.2;
    const later = await readWithToken(`/streams/t/${sharing.newName()}?live=true`, ttlSeconds);
    expect((await later.ended).status).toBe(401);
  }
});

function expectText({ body, isWhole }: Answer, text: string, whole: boolean): void {
  expect({ text: body.toString(), isWhole }).toEqual({ text, isWhole: whole });
}
