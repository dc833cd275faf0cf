import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { endAll, endLater, parkRead, readShape, start } from './catalog-fixture.ts';

afterEach(endAll);

function run(env: Record<string, string>): ChildProcess {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endLater(() => child.kill('SIGKILL'));
  return child;
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const [line] = (await once(createInterface({ input: stream }), 'line')) as [string];
  return line;
}

describe('the catalog process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'says what it is and where, and %s stops it at once with a read parked',
    async (signal) => {
      const folder = await mkdtemp(join(tmpdir(), 'catalog-'));
      endLater(() => rm(folder, { recursive: true }));
      const file = join(folder, 'catalog.sqlite');
      // A port that was free a moment ago: the process takes one by number.
      const probe = await start();
      await probe.stop();
      const child = run({
        CATALOG_PORT: String(probe.port),
        CATALOG_DATA: file,
        CATALOG_SECRET: 'hush',
      });

      expect(await firstLine(child.stdout!)).toBe(
        `catalog engine, a stand-in for Electric on one machine: listening on ${probe.url}, rows in ${file}`,
      );
      const refused = await readShape(probe, { offset: '-1' });
      expect(refused.status).toBe(401);
      const first = await readShape(probe, { offset: '-1', secret: 'hush' });
      const handle = first.headers.get('electric-handle')!;
      const parked = await parkRead(probe, { offset: '0_0', handle, secret: 'hush' });

      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(await parked.settled).toEqual({ brokenOff: 'ECONNRESET' });
    },
  );

  it('says why it did not start', async () => {
    const taken = await start();
    const child = run({ CATALOG_PORT: String(taken.port), CATALOG_DATA: ':memory:' });
    const exited = once(child, 'exit');

    expect(await firstLine(child.stderr!)).toBe(
      `catalog engine: not started: Error: listen EADDRINUSE: address already in use 127.0.0.1:${taken.port}`,
    );
    expect(await exited).toEqual([1, null]);
  });
});
