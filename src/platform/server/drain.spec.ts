import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Connections } from './connections.ts';
import { drain, type DrainParts } from './drain.ts';
import { GatewayState } from './gateway-state.ts';
import { OpenRequests } from './open-requests.ts';

const nothing = (): void => undefined;

describe('drain', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  // With traces every phase began earlier, by the share of the time that the last spans have.
  it.each([
    [0.5, 'closing'],
    [0.9, 'refusing'],
  ])('breaks off what is left at %d of its time, in the phase %s', async (share, phase) => {
    const state = new GatewayState();
    const phasesAtTheEnd: string[] = [];
    const allClosed = Promise.withResolvers<void>();
    const connections = {
      announceClose: nothing,
      closeIdle: nothing,
      closeUnused: nothing,
      destroyAll: () => {
        phasesAtTheEnd.push(state.phase);
        allClosed.resolve();
      },
    };
    const drained = drain({
      server: {
        close: (done: () => void) => void allClosed.promise.then(done),
      } as unknown as Server,
      connections: connections as unknown as Connections,
      openRequests: new OpenRequests(),
      state,
      logger: { warn: nothing } as unknown as DrainParts['logger'],
      hasLameDuck: false,
      timeoutMs: 100,
      hardDeadlineAt: share,
    });
    await jest.advanceTimersByTimeAsync(share * 100 - 1);
    expect(phasesAtTheEnd).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    await drained;
    expect(phasesAtTheEnd).toEqual([phase]);
  });
});
