import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { listening } from '../../../test/support/listening.ts';
import type { Connections } from './connections.ts';
import { drain, type DrainParts } from './drain.ts';
import { GatewayState } from './gateway-state.ts';
import { OpenRequests } from './open-requests.ts';

const nothing = (): void => undefined;

describe('drain', () => {
  // With traces every phase began earlier, by the share of the time that the last spans have.
  it.each([
    [0.5, 'closing'],
    [0.9, 'refusing'],
  ])('breaks off what is left at %d of its time, in the phase %s', async (share, phase) => {
    const server = createServer(nothing);
    const { url } = await listening(server);
    const pending = fetch(url).catch(nothing);
    await once(server, 'request');

    const state = new GatewayState();
    const phasesAtTheEnd: string[] = [];
    const connections = {
      announceClose: nothing,
      closeIdle: nothing,
      closeUnused: nothing,
      destroyAll: () => {
        phasesAtTheEnd.push(state.phase);
        server.closeAllConnections();
      },
    };
    await drain({
      server,
      connections: connections as unknown as Connections,
      openRequests: new OpenRequests(),
      state,
      logger: { warn: nothing } as unknown as DrainParts['logger'],
      hasLameDuck: false,
      timeoutMs: 100,
      hardDeadlineAt: share,
    });
    await pending;
    expect(phasesAtTheEnd).toEqual([phase]);
  });
});
