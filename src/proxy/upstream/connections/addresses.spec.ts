import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { fakeTime, pass } from '../../../../test/support/fake-time.ts';
import { Addresses } from './addresses.ts';

const [A, B, C] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'] as const;

describe('Addresses', () => {
  let found: string[];
  let told: string[];
  let addresses: Addresses;

  beforeEach(() => {
    fakeTime();
    found = [A, B, C];
    told = [];
    addresses = new Addresses('store.test', {
      addressesOf: (name) => Promise.resolve(name === 'store.test' ? found : []),
      connectFailed: (name) => void told.push(name),
    });
    beginAt(0);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** With which of the addresses found the order begins. */
  function beginAt(index: number): void {
    jest.spyOn(Math, 'random').mockReturnValue((index + 0.5) / found.length);
  }

  // All connections of a copy went to the first of several servers.
  it.each([
    [0, [A, B, C]],
    [1, [B, C, A]],
    [2, [C, A, B]],
  ])('begin at a random one, such as %i, and go round', async (index, order) => {
    beginAt(index);
    expect(await addresses.inOrder()).toEqual(order);
  });

  it('has those of IPv4 first', async () => {
    found = ['::1', A, '::2', B];
    beginAt(2);
    expect(await addresses.inOrder()).toEqual([B, A, '::2', '::1']);
  });

  it('has one last that was silent or refused a connection, for 10 s', async () => {
    addresses.avoid(A);
    await pass(5_000);
    addresses.avoid(B);
    expect(await addresses.inOrder()).toEqual([C, A, B]);
    await pass(5_000);
    expect(await addresses.inOrder()).toEqual([A, C, B]);
    await pass(5_000);
    expect(await addresses.inOrder()).toEqual([A, B, C]);
  });

  it('has one last besides which another one is asked for, and no address less', async () => {
    expect(await addresses.inOrder(A)).toEqual([B, C, A]);
    expect(await addresses.inOrder(C)).toEqual([A, B, C]);
    addresses.avoid(B);
    expect(await addresses.inOrder(A)).toEqual([C, A, B]);
    found = ['::1', A];
    expect(await addresses.inOrder(A)).toEqual(['::1', A]);
  });

  it('has the only one, whatever came of it', async () => {
    found = [A];
    addresses.avoid(A);
    expect(await addresses.inOrder(A)).toEqual([A]);
  });

  it('has the name looked up again when no connection could be opened', () => {
    addresses.connectFailed();
    expect(told).toEqual(['store.test']);
  });
});
