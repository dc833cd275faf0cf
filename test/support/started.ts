import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

interface Part {
  stop(): Promise<unknown>;
}

/** Those of the file that run. */
const running: Part[] = [];

/**
 * A server for the tests of a file or a `describe`; it has no property before they begin. Servers start in the order of these calls,
 * and stop in the opposite one.
 */
export function started<P extends Part>(start: () => Promise<P>): P {
  const part = {} as P;
  beforeAll(async () => {
    const own = await start();
    running.push(own);
    // Not copied: its getters have to say what is so later.
    Object.setPrototypeOf(part, own);
  });
  afterAll(async () => void (await running.pop()?.stop()));
  return part;
}

/** A folder for the same tests, which is removed after them. */
export function temporaryFolder(prefix: string): { path: string } {
  return started(async () => {
    const path = await mkdtemp(join(tmpdir(), prefix));
    return { path, stop: () => rm(path, { recursive: true }) };
  });
}
