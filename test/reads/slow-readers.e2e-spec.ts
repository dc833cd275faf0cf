import { describe, expect, it } from '@jest/globals';
import type { HeldRequest } from './held-upstream.ts';
import type { Answer } from './reader.ts';
import { EVENT_READS, MODES, numberedEvent as event, sharingGateway } from './sharing-gateway.ts';

const EVENTS = { 'content-type': 'text/event-stream' };
/** More bytes than sockets and streams buffer for a reader that reads nothing. */
const MUCH_BYTES = 16 * 1_048_576;
const STREAM = EVENT_READS[0]?.target ?? String;
const TEXT = 'x'.repeat(256 * 1024);

describe.each(MODES)('a reader that takes nothing of a $mode event stream', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  it.each(EVENT_READS.slice(0, 2))(
    'holds up no other one of a $kind, and is given no half an event',
    async ({ target: targetOf, kind }) => {
      const { target, requests } = sharing.newRead(targetOf);
      const quick = sharing.read(target);
      const slow = sharing.read(target);
      slow.pause();
      await sharing.takenIn();
      const sent = allEvents();
      requests.each((request) => void sendAll(request, sent));

      const answer = await quick.ended;
      expect([answer.isWhole, answer.body.equals(Buffer.concat(sent))]).toEqual([true, true]);
      slow.goOn();
      expectResumable(await slow.ended, Buffer.concat(sent), kind);
    },
  );

  // The upstream had been made to wait for it, and went on waiting for it alone.
  it('holds up nobody who joins it later', async () => {
    const { target, requests } = sharing.newRead(STREAM);
    const slow = sharing.read(target);
    slow.pause();
    // As much as a later reader may still be given.
    const first = event(1, 'x'.repeat(250_000));
    requests.each((request) => request.begin(200, EVENTS, first));
    await slow.begun();
    await sharing.takenIn();

    const quick = sharing.read(target);
    expect(await quick.untilText(first)).toBe(first);
    expect(requests.all.length).toBe(sharing.requestsOf(2));
    for (const request of requests.all) await request.write(event(2));
    expect(await quick.untilText(event(2))).toBe(first + event(2));
    slow.leave();
    quick.leave();
  });

  it('gets all of it where it is the only one, and the upstream waits for it', async () => {
    const { target, requests } = sharing.newRead(STREAM);
    const slow = sharing.read(target);
    slow.pause();
    const request = await requests.nth(1);
    const sent = allEvents();
    let isSent = false;
    const sending = sendAll(request, sent).then(() => (isSent = true));
    await slow.begun();
    for (let witness = 0; witness < 10; witness++) await sharing.takenIn();
    expect(isSent).toBe(false);

    slow.goOn();
    const answer = await slow.ended;
    expect([answer.isWhole, answer.body.equals(Buffer.concat(sent))]).toEqual([true, true]);
    await sending;
  });
});

function allEvents(): Buffer[] {
  const count = Math.ceil(MUCH_BYTES / TEXT.length);
  return Array.from({ length: count }, (_, number) => Buffer.from(event(number, TEXT)));
}

/** Sends everything as fast as the reader takes it, then ends. */
async function sendAll(request: HeldRequest, pieces: readonly Buffer[]): Promise<void> {
  request.begin(200, EVENTS);
  for (const piece of pieces) await request.write(piece);
  request.response.end();
}

/** Checks that the body is complete, or ends where the reader can continue. */
function expectResumable({ body, isWhole }: Answer, all: Buffer, kind: string): void {
  expect(isWhole).toBe(true);
  expect(body.equals(all.subarray(0, body.length))).toBe(true);
  const end = kind === 'stream' ? /event: control\ndata: [^\n]*\n\n$/ : /\n\n$/;
  expect(body.subarray(-200).toString()).toMatch(end);
}
