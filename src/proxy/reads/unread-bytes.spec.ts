import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes, PIECE_OVERHEAD_BYTES } from '../../platform/memory/held-bytes.ts';
import type { SlowClient } from '../../platform/memory/slow-clients.ts';
import { SharedBody } from './shared-body.ts';
import { UnreadBytes } from './unread-bytes.ts';

describe('UnreadBytes', () => {
  let held: HeldBytes;
  let nowMs: number;
  let unread: UnreadBytes;
  let shed: number;
  beforeEach(() => {
    nowMs = 10_000;
    shed = 0;
    held = new HeldBytes(100_000, () => nowMs);
    const client: SlowClient = { slowPlace: undefined, shed: () => void shed++ };
    unread = new UnreadBytes(held, client);
  });
  const state = () => [unread.isEmpty, unread.isFull];

  it('is full with four pieces, and not with three', () => {
    expect(state()).toEqual([true, false]);
    for (let i = 0; i < 3; i++) unread.add(1);
    expect(state()).toEqual([false, false]);
    unread.add(1);
    expect(state()).toEqual([false, true]);
    unread.taken(1);
    expect(state()).toEqual([false, false]);
    for (let i = 0; i < 3; i++) unread.taken(1);
    expect(state()).toEqual([true, false]);
  });

  it('is full with 64 KiB, and not with a byte less', () => {
    unread.add(65_535);
    expect(unread.isFull).toBe(false);
    unread.add(1);
    expect(unread.isFull).toBe(true);
    unread.taken(1);
    expect(unread.isFull).toBe(false);
    expect(held.sentBytes).toBe(65_536);
  });

  it('counts what is in flight from the end of the response on, until it is closed', () => {
    unread.add(1_000);
    expect(held.total).toBe(0);
    unread.end(200);
    expect([held.of('answers'), held.sentBytes]).toEqual([PIECE_OVERHEAD_BYTES + 1_200, 1_200]);
    unread.close();
    expect(held.total).toBe(0);
    unread.close();
    expect(held.total).toBe(0);
  });

  it('counts the bytes of a shared body there, which it leaves once', () => {
    const shared = new SharedBody(held, 500);
    shared.giveTo(2);
    unread.shared = shared;
    unread.end(500);
    expect(held.total).toBe(500 + PIECE_OVERHEAD_BYTES);
    unread.close();
    unread.close();
    expect(held.total).toBe(500);
    shared.leave();
    expect(held.total).toBe(0);
  });

  it('has a slow client from the end of the response until it is closed', () => {
    unread.end(80_000);
    nowMs += 2_000;
    expect([held.tryTake('bodies', 10_000), shed]).toEqual([false, 1]);
    unread.end(0);
    unread.close();
    nowMs += 2_000;
    held.hold('bodies', 200_000);
    expect(shed).toBe(1);
  });
});
