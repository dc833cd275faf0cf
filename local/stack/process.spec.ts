import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startProcess, untilReady, type RunningProcess } from './process.ts';

/** Says `ready` and the port it listens on: who is connected to it sees it end. */
const LISTEN = `
  const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
    console.log('ready ' + server.address().port);
  });
`;
const IGNORE_SIGTERM = `process.on('SIGTERM', () => console.log('no'));`;
/** Runs the rest in a child of its own, whose output is its own. */
const inChild = (script: string) => `
  require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}], {
    stdio: 'inherit',
  });
  setInterval(() => {}, 1000);
`;

describe('startProcess', () => {
  const started: RunningProcess[] = [];
  afterEach(() => Promise.all(started.splice(0).map((process) => process.kill())));

  function start(script: string, onLine?: (line: string) => void): RunningProcess {
    const process = startScript(script, onLine);
    started.push(process);
    return process;
  }

  it('keeps the last twenty lines of both outputs', async () => {
    const process = start(`
      for (let i = 1; i <= 21; i++) console.log('line ' + i);
      process.on('exit', () => console.error('over'));
    `);

    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(process.lastLines()).toHaveLength(20);
    expect(process.lastLines()).toContain('over');
    expect(process.lastLines()).not.toContain('line 1');
  });

  it('stops a process that minds SIGTERM within the grace', async () => {
    const process = start(`process.on('SIGTERM', () => process.exit(7)); ${LISTEN}`);
    await listening(process);

    await process.stop();

    expect(await process.exited).toEqual({ code: 7, signal: null });
  });

  it('kills a process that ignores SIGTERM after the grace', async () => {
    const process = start(`${IGNORE_SIGTERM} ${LISTEN}`);
    await listening(process);

    // Long enough for a busy machine to run the handler.
    await process.stop(3_000);

    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(process.lastLines().at(-1)).toBe('no');
  });

  it('takes along a grandchild that ignores SIGTERM', async () => {
    const process = start(inChild(`${IGNORE_SIGTERM} ${LISTEN}`));
    const { cut } = await connectTo(await listening(process));

    await process.stop();

    await cut;
  });

  it('ends with the process that started it, although that is killed', async () => {
    const parent = start(`
      import(${JSON.stringify(new URL('process.ts', import.meta.url).href)}).then((stack) =>
        stack.startProcess({
          name: 'child',
          command: process.execPath,
          args: ['-e', ${JSON.stringify(LISTEN)}],
          env: {},
          onLine: console.log,
        }),
      );
    `);
    const { cut } = await connectTo(await listening(parent));

    process.kill(parent.pid, 'SIGKILL');

    await cut;
  });

  it('says what cannot be started', () => {
    expect(() => startProcess({ name: 'nothing', command: '/nowhere', env: {} })).toThrow(
      'nothing cannot be started: /nowhere',
    );
  });
});

describe('untilReady', () => {
  it('names a process that ends first, its exit code and its last lines', async () => {
    const process = startScript(`console.log('a'); console.error('b'); process.exitCode = 3;`);

    const failure = await untilReady(process, 20_000, () => new Promise(() => {})).catch(String);

    expect(failure).toMatch(/^Error: probe ended with exit code 3\. Its last lines:\n {2}[ab]\n/);
  });

  it('kills a process that is not ready in time', async () => {
    const process = startScript('setInterval(() => {}, 1_000);');

    const ready = untilReady(process, 1, () => new Promise(() => {}));

    await expect(ready).rejects.toThrow('probe was not ready in 1 ms. It said nothing.');
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('aborts what waits for a process that has ended', async () => {
    const process = startScript('');
    let waiting: AbortSignal | undefined;

    await untilReady(process, 20_000, (signal) => {
      waiting = signal;
      return new Promise(() => {});
    }).catch(() => {});

    expect(waiting?.aborted).toBe(true);
  });
});

function startScript(script: string, onLine?: (line: string) => void): RunningProcess {
  return startProcess({
    name: 'probe',
    command: process.execPath,
    args: ['-e', script],
    env: {},
    onLine,
  });
}

async function listening(process: RunningProcess): Promise<number> {
  const line = await untilReady(process, 20_000, () =>
    process.waitForLine((text) => text.startsWith('ready ')),
  );
  return Number(line.split(' ')[1]);
}

/** Connects; `cut` fulfils when the other side has gone. */
async function connectTo(port: number): Promise<{ cut: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return { cut: new Promise((resolve) => socket.on('error', () => {}).on('close', resolve)) };
}
