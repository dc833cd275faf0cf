import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { IdleConnections } from './idle-connections.ts';

describe('IdleConnections', () => {
  let nowMs: number;
  let idle: IdleConnections;
  const [a, b, c] = [new Socket(), new Socket(), new Socket()];

  beforeEach(() => {
    nowMs = 0;
    idle = new IdleConnections(() => nowMs);
  });

  it('gives the one that has been idle for longest, once', () => {
    idle.addAnswered(a);
    nowMs = 1;
    idle.addAnswered(b);
    expect(idle.takeLongest()).toBe(a);
    expect(idle.takeLongest()).toBe(b);
    expect(idle.takeLongest()).toBeUndefined();
  });

  it('begins anew for a connection that was used in the meantime', () => {
    idle.addAnswered(a);
    idle.addAnswered(b);
    idle.delete(a);
    idle.addAnswered(a);
    expect(idle.takeLongest()).toBe(b);
  });

  it('leaves a client that has just connected the time for its first request', () => {
    idle.addUnused(a);
    nowMs = 999;
    idle.addAnswered(b);
    expect(idle.takeLongest()).toBe(b);
    expect(idle.takeLongest()).toBeUndefined();
    nowMs = 1_000;
    idle.addAnswered(c);
    expect(idle.takeLongest()).toBe(a);
    expect(idle.takeLongest()).toBe(c);
  });

  it('forgets a connection that is closed, whatever it did', () => {
    idle.addUnused(a);
    idle.addAnswered(b);
    idle.delete(a);
    idle.delete(b);
    idle.delete(c);
    nowMs = 10_000;
    expect(idle.takeLongest()).toBeUndefined();
  });
});
