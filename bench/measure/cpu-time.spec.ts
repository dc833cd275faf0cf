import { afterEach, describe, expect, it } from '@jest/globals';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { groupCpuMs, isGroupRunnable } from './cpu-time.ts';
import { settle } from './settle.ts';

/** Uses that much processor time, says so, and waits. */
const BURN = `
const end = (ms) => { while (process.cpuUsage().user / 1000 < ms); };
if (process.argv[1] === 'child') { end(300); process.exit(); }
end(300);
require('node:child_process').spawnSync(process.execPath, ['-e', process.env.BURN, 'child']);
console.log('burnt');
setInterval(() => {}, 1000);
`;

let running: RunningProcess | undefined;
afterEach(() => running?.kill());

describe('processor time', () => {
  it('counts a process and a child of it that has ended', async () => {
    running = startProcess({
      name: 'burner',
      command: process.execPath,
      args: ['-e', BURN],
      env: { BURN },
    });
    await running.waitForLine((line) => line === 'burnt');
    const usedMs = await groupCpuMs(running.pid);
    expect(usedMs).toBeGreaterThanOrEqual(580);
    // Far off only in another unit: a busy machine makes both processes use more.
    expect(usedMs).toBeLessThan(60_000);
  });

  it('is wanted by a process that works, and not by one that waits', async () => {
    const work = `
      console.log('works');
      process.on('SIGTERM', () => {});
      const end = performance.now() + 60_000;
      while (performance.now() < end);`;
    running = startProcess({
      name: 'worker',
      command: process.execPath,
      args: ['-e', work],
      env: {},
    });
    await running.waitForLine((line) => line === 'works');
    await expect(isGroupRunnable(running.pid)).resolves.toBe(true);
    await running.kill();

    running = startProcess({
      name: 'sleeper',
      command: 'sh',
      args: ['-c', 'echo waits; exec sleep 60'],
      env: {},
    });
    await running.waitForLine((line) => line === 'waits');
    // Between the line and its sleep it still works for a moment.
    await settle([running.pid]);
    await expect(isGroupRunnable(running.pid)).resolves.toBe(false);
  });

  it('is none where there is no process', async () => {
    await expect(groupCpuMs(undefined)).resolves.toBe(0);
  });
});
