import { describe, expect, it } from '@jest/globals';
import { startProcess, type RunningProcess } from './process.ts';
import { RunningParts } from './running-parts.ts';

function sleeping(): RunningProcess {
  return startProcess({
    name: 'agents',
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
    env: {},
  });
}

describe('RunningParts', () => {
  const said: string[] = [];
  /** The next start of the part. */
  let started = Promise.withResolvers<RunningProcess>();
  let nowMs = 0;
  const part = {
    name: 'agents',
    start: async () => {
      const running = sleeping();
      started.resolve(running);
      return running;
    },
  };
  const supervise = () =>
    new RunningParts({ onRestart: (message) => said.push(message), now: () => nowMs });

  async function killAndAwaitNext(running: RunningProcess): Promise<RunningProcess> {
    started = Promise.withResolvers();
    await running.kill();
    return started.promise;
  }

  it('starts a part again twice within a minute, and gives up at its third end', async () => {
    said.length = 0;
    const parts = supervise();
    started = Promise.withResolvers();
    await parts.start(part);
    const second = await killAndAwaitNext(await started.promise);
    nowMs += 59_000;
    const third = await killAndAwaitNext(second);
    await third.kill();

    await expect(parts.ended).rejects.toThrow(
      'agents ended 3 times in a minute. agents ended by SIGKILL. It said nothing.',
    );
    const again = 'agents ended by SIGKILL: starting it again';
    expect(said).toEqual([again, again]);
    expect(parts.running).toEqual([]);
    await parts.stop(1_000);
  });

  it('starts a part again as often as it ends when that is seldom', async () => {
    const parts = supervise();
    started = Promise.withResolvers();
    await parts.start(part);
    let running = await started.promise;
    for (let times = 0; times < 4; times++) {
      nowMs += 31_000;
      running = await killAndAwaitNext(running);
    }
    await parts.stop(30_000);
    expect(await running.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('rejects when the first start of a part fails', async () => {
    const parts = supervise();
    const start = () => Promise.reject(new Error('no port'));
    await expect(parts.start({ name: 'agents', start })).rejects.toThrow('no port');
  });
});
