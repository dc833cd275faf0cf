import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.ts';

describe('choosePorts', () => {
  let occupant: Server;
  let taken: number;

  beforeEach(async () => {
    occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    taken = (occupant.address() as AddressInfo).port;
  });
  afterEach(() => {
    occupant.close();
  });

  it('gives the wanted port where it is free', async () => {
    const { free } = await choosePorts({ free: 0 });

    expect(await choosePorts({ again: free })).toEqual({ again: free });
  });

  it('gives another one where the wanted port is taken', async () => {
    const { moved } = await choosePorts({ moved: taken });

    expect(moved).toBeGreaterThan(0);
    expect(moved).not.toBe(taken);
  });

  it('gives no port twice', async () => {
    const { free } = await choosePorts({ free: 0 });
    const chosen = await choosePorts({ a: free, b: free, c: taken, d: 0 });

    expect(chosen.a).toBe(free);
    expect(new Set(Object.values(chosen)).size).toBe(4);
  });
});
