import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pass } from '../../../test/support/fake-time.ts';
import { HistoryExchanges, RESPONSE_MS } from '../../../test/support/history-exchanges.ts';
import { listening } from '../../../test/support/listening.ts';

const ANSWERING = '127.0.0.1';
/** A second address of the loopback interface. macOS has none unless somebody adds it. */
const SILENT = '127.0.0.2';
/** When a request is sent a second time: a quarter of its time, and the end of a time is rounded up. */
const PROBE_MS = RESPONSE_MS / 4 + 200;
const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

/** Of a silent server and an answering one, five connections went to the silent one and none to the other: 502 after 16 s. */
describeOnLinux('a name with a server that answers and one that is silent (Linux)', () => {
  let exchanges: HistoryExchanges;
  let connectionsToSilent = 0;
  let stopSilent: () => Promise<void>;

  beforeEach(async () => {
    exchanges = await HistoryExchanges.start({}, ANSWERING);
    exchanges.names.addresses = [ANSWERING, SILENT];
    connectionsToSilent = 0;
    const silent = createServer((socket) => {
      connectionsToSilent++;
      socket.on('error', () => undefined).resume();
    });
    ({ stop: stopSilent } = await listening(silent, exchanges.store.port, SILENT));
    // It begins with the silent one, unless that was found to be silent.
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
  });
  afterEach(async () => {
    await exchanges.stop();
    await stopSilent();
    jest.restoreAllMocks();
  });

  it('has the second try of a request at the one that answers, and everything after it', async () => {
    const first = exchanges.send();
    await pass(PROBE_MS);
    (await exchanges.store.nth(1)).answer();
    expect(await first.over()).toEqual([200, 'ok', 'end']);

    // All at the same time, so that each has a connection of its own.
    const reads = [1, 2, 3].map(() => exchanges.send());
    const writes = [1, 2].map(() => exchanges.send({ method: 'POST', isRepeatable: false }));
    await exchanges.store.nth(6);
    for (const request of exchanges.store.requests.slice(1)) request.answer();
    for (const each of [...reads, ...writes]) expect(await each.over()).toEqual([200, 'ok', 'end']);
    expect(connectionsToSilent).toBe(1);
  });

  it('has the requests after one that may not be repeated, and was not answered in time, at the one that answers', async () => {
    const write = { method: 'POST', isRepeatable: false };
    const first = exchanges.send(write);
    await pass(RESPONSE_MS + 1_000);
    expect(await first.over()).toEqual(['upstream_timeout']);
    expect([connectionsToSilent, exchanges.store.requests.length]).toEqual([1, 0]);

    const second = exchanges.send(write);
    (await exchanges.store.nth(1)).answer();
    expect(await second.over()).toEqual([200, 'ok', 'end']);
  });

  it('asks the silent one again after a while', async () => {
    const first = exchanges.send();
    await pass(PROBE_MS);
    (await exchanges.store.nth(1)).answer();
    await first.over();
    await pass(60_000);
    const second = exchanges.send();
    await pass(PROBE_MS);
    (await exchanges.store.nth(2)).answer();
    expect(await second.over()).toEqual([200, 'ok', 'end']);
    expect(connectionsToSilent).toBe(2);
  });
});
