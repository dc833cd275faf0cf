import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.ts';

const CHOOSE = `
  const { choosePorts } = await import(${JSON.stringify(import.meta.resolve('./ports.ts'))});
  console.log((await choosePorts({ wanted: Number(process.argv[1]) })).wanted);
`;

/** What another process is given that wants this port. */
function chosenElsewhere(wanted: number): number {
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', CHOOSE, `${wanted}`]));
}

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

  // Another process chose the port of a gateway that had not listened yet, which then could not start.
  it('gives none that another process has chosen', async () => {
    const { free } = await choosePorts({ free: 0 });

    expect(chosenElsewhere(free)).toBeGreaterThan(0);
    expect(chosenElsewhere(free)).not.toBe(free);
  });
});
