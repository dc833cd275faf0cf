import { describe, expect, it } from '@jest/globals';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { HeldBytes, type SlowClient } from './held-bytes.ts';

/** A client for which so many bytes are held until it is ended. */
function slowClient(held: HeldBytes, bytes: number): SlowClient & { isEnded: boolean } {
  const client = {
    isEnded: false,
    shed: () => {
      client.isEnded = true;
      held.release('answers', bytes);
    },
  };
  held.addSlow(client);
  held.hold('answers', bytes);
  return client;
}

describe('HeldBytes', () => {
  it('ends those that have been slow for longest, as many as needed, when what is here does not fit', async () => {
    const held = new HeldBytes(1_000);
    const clients = [400, 300, 200].map((bytes) => slowClient(held, bytes));
    held.hold('events', 150);
    await turnEnd();
    expect(clients.map(({ isEnded }) => isEnded)).toEqual([true, false, false]);
    expect([held.total, held.byKind.answers, held.byKind.events]).toEqual([650, 500, 150]);
    expect(held.shedCount).toBe(1);
  });

  // A client that had just got 7 KiB was reset for 600 others whose responses had not begun: nobody else had been slow yet.
  it('spares a client that takes what was held in the same turn', async () => {
    const held = new HeldBytes(1_000);
    const clients = [400, 400].map((bytes) => slowClient(held, bytes));
    held.hold('events', 300);
    for (const client of clients.slice(0, 1)) held.deleteSlow(client);
    await turnEnd();
    expect(clients.map(({ isEnded }) => isEnded)).toEqual([false, true]);
  });

  it('refuses new work from three quarters on', () => {
    const held = new HeldBytes(1_000);
    expect(held.tryTake('bodies', 750)).toBe(true);
    expect(held.tryTake('bodies', 1)).toBe(false);
    held.release('bodies', 750);
    expect(held.tryTake('bodies', 1)).toBe(true);
  });

  // Clients that have stopped must not keep others from being served until they are found to have stalled.
  it('makes room for new work by ending who has been slow for two seconds', () => {
    let nowMs = 0;
    const held = new HeldBytes(1_000, () => nowMs);
    const stopped = slowClient(held, 700);
    nowMs = 1_999;
    expect([held.tryTake('bodies', 100), stopped.isEnded]).toEqual([false, false]);
    nowMs = 2_000;
    expect([held.tryTake('bodies', 100), stopped.isEnded]).toEqual([true, true]);
  });

  it('takes no new work while the memory of the process is short', () => {
    const held = new HeldBytes(1_000);
    held.isClosed = true;
    expect(held.tryTake('bodies', 1)).toBe(false);
  });

  it('tells once a step of the bytes that came or went', () => {
    const held = new HeldBytes(1_000);
    let told = 0;
    held.watchFlow(100, () => told++);
    for (let i = 0; i < 15; i++) held.sent(10);
    held.hold('answers', 60);
    held.release('answers', 60);
    expect(told).toBe(2);
  });
});
