import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Connection } from './connection.ts';
import { IdleConnections } from './idle-connections.ts';

describe('IdleConnections', () => {
  let nowMs: number;
  let idle: IdleConnections;
  let a: Connection;
  let b: Connection;
  let c: Connection;
  const connected = (): Connection => new Connection(new Socket());

  function addAnswered(connection: Connection): void {
    connection.isUsed = true;
    idle.addAnswered(connection);
  }

  beforeEach(() => {
    nowMs = 0;
    [a, b, c] = [connected(), connected(), connected()];
    idle = new IdleConnections(() => nowMs);
  });

  it('gives the one that has been idle for longest, once', () => {
    addAnswered(a);
    nowMs = 1;
    addAnswered(b);
    expect(idle.takeLongest()).toBe(a);
    expect(idle.takeLongest()).toBe(b);
    expect(idle.takeLongest()).toBeUndefined();
  });

  it('begins anew for a connection that was used in the meantime', () => {
    addAnswered(a);
    addAnswered(b);
    idle.delete(a);
    addAnswered(a);
    expect(idle.takeLongest()).toBe(b);
  });

  it('leaves a client that has just connected the time for its first request', () => {
    idle.addUnused(a);
    nowMs = 999;
    addAnswered(b);
    expect(idle.takeLongest()).toBe(b);
    expect(idle.takeLongest()).toBeUndefined();
    nowMs = 1_000;
    addAnswered(c);
    expect(idle.takeLongest()).toBe(a);
    expect(idle.takeLongest()).toBe(c);
  });

  it('forgets a connection that is closed, whatever it did', () => {
    idle.addUnused(a);
    addAnswered(b);
    idle.delete(a);
    idle.delete(b);
    idle.delete(c);
    nowMs = 10_000;
    expect(idle.takeLongest()).toBeUndefined();
  });
});
