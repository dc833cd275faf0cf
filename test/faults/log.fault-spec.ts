import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, untilReady } from '../../local/stack/process.ts';
import { afterThisTest, forAllTests } from '../support/for-this-test.ts';
import { launchGateway } from '../support/gateway-child.ts';
import { measuresAt } from '../support/measured-gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { openSocket } from '../support/open-socket.ts';
import { untilAccepting } from '../support/until-accepting.ts';
import { Pipeline } from './pipeline.ts';

/** Makes a log line of about 700 bytes. */
const REQUEST = `GET /nothing/${'a'.repeat(490)} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`;
const REQUESTS_AT_ONCE = 8;
/** Lines of about 700 bytes each: more than 4 MiB. */
const FLOOD = 9_600;
const MAX_WAITING_BYTES = 4_194_304;
const DROPPED = 'gateway_log_lines_dropped_total';
const WAITING = 'gateway_log_waiting_bytes';

type Line = { message: string; droppedLines?: number };

const folder = forAllTests(newFolder);
let pipes = 0;
/** A built gateway whose standard output goes to a path. */
async function start(path: string, env: Record<string, string> = {}) {
  const { port, management } = await choosePorts({ port: 0, management: 0 });
  const { gateway } = await launchGateway({
    env: {
      GATEWAY_PORT: String(port),
      GATEWAY_MANAGEMENT_PORT: String(management),
      GATEWAY_DRAIN_TIMEOUT_MS: '1000',
      ...env,
    },
    wrapper: ['/bin/sh', '-c', `exec "$@" >> ${path}`, 'sh'],
  });
  afterThisTest(() => gateway.kill());
  // What it logs nobody reads, so only its ports tell.
  await untilReady(gateway, READY_TIMEOUT_MS, async () => {
    await untilAccepting(port);
    await untilAccepting(management);
  });
  return {
    port,
    ...measuresAt(`http://127.0.0.1:${management}`),
    exited: gateway.exited,
    signal: (signal: NodeJS.Signals) => process.kill(gateway.pid, signal),
    /** Sends so many requests, each with a line in the log, and reads their answers. */
    request: async (count: number) => {
      const pipeline = await Pipeline.open(port, REQUEST);
      await pipeline.send(count, REQUESTS_AT_ONCE);
      pipeline.close();
    },
  };
}

/** A pipe that this process holds open without reading. */
function makePipe(): { path: string; fd: number } {
  const path = join(folder.path, `pipe-${pipes++}`);
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return { path, fd };
}

function makeUnreadPipe(): string {
  const { path, fd } = makePipe();
  afterThisTest(() => closeSync(fd));
  return path;
}

function counted(lines: readonly Line[]): { requests: number; dropped: number } {
  return {
    requests: lines.filter(({ message }) => message === 'request').length,
    dropped: lines.reduce((sum, { droppedLines = 0 }) => sum + droppedLines, 0),
  };
}

// The lines filled the heap, 135 to 641 MiB in 600,000 requests, or an error of the disk held the only thread in the
// logger for good; neither one SIGTERM nor two ended the process.
describe.each([
  ['a pipe that nobody reads', makeUnreadPipe],
  ['a device that is full', () => '/dev/full'],
])('a log that goes to %s', (_, output) => {
  it('drops and counts lines beyond a bound, and holds up neither requests nor the end', async () => {
    const gateway = await start(output());
    await gateway.request(FLOOD);
    await gateway.until(DROPPED, {}, (lines) => lines > 0);
    expect(await gateway.value(WAITING)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('does not hold up a second signal', async () => {
    const gateway = await start(output(), { GATEWAY_DRAIN_TIMEOUT_MS: '4000' });
    await gateway.request(FLOOD);
    const idle = await openSocket(gateway.port);
    afterThisTest(() => idle.destroy());
    gateway.signal('SIGTERM');
    // Idle connections are closed after a fifth of the time.
    await once(idle.resume(), 'close');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
  });
});

describe('a log whose reader is away', () => {
  it('continues where it stopped when the reader is back, and tells how many lines are missing', async () => {
    const { path, fd } = makePipe();
    const reader = new Socket({ fd, readable: true, writable: false });
    afterThisTest(() => reader.destroy());
    reader.pause();
    const gateway = await start(path);
    await gateway.request(FLOOD);
    await gateway.until(DROPPED, {}, (lines) => lines > 0);

    const lines: Line[] = [];
    const stopped = Promise.withResolvers<void>();
    createInterface({ input: reader }).on('line', (line) => {
      lines.push(JSON.parse(line) as Line);
      if (lines.at(-1)?.message === 'the gateway has stopped') stopped.resolve();
    });
    await gateway.until(WAITING, {}, 0);
    const dropped = await gateway.value(DROPPED);
    await gateway.request(8);
    gateway.signal('SIGTERM');
    await stopped.promise;
    expect(counted(lines)).toEqual({ requests: FLOOD + 8 - Number(dropped), dropped });
  });

  it('leaves the gateway be when the reader is gone', async () => {
    const { path, fd } = makePipe();
    const gateway = await start(path);
    closeSync(fd);
    await gateway.request(80);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mountsAnything();

// The first error with room again ended the process, as an exception.
describe('a log in a file on a full disk', () => {
  (canMount ? it : it.skip)(
    'continues when there is room again, with no line torn (needs root, to mount a small disk)',
    async () => {
      const disk = join(folder.path, 'disk');
      await mkdir(disk);
      mount(['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
      afterThisTest(() => execFileSync('umount', [disk]));
      const file = join(disk, 'log');
      const gateway = await start(file);
      await gateway.request(FLOOD);
      await gateway.until(DROPPED, {}, (lines) => lines > 0);

      mount(['-o', 'remount,size=16m', disk]);
      await gateway.until(WAITING, {}, 0);
      const dropped = await gateway.value(DROPPED);
      gateway.signal('SIGTERM');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });

      const text = await readFile(file, 'utf8');
      const lines = text.split('\n').slice(0, -1);
      const parsed = lines.map((line) => JSON.parse(line) as Line);
      expect(counted(parsed)).toEqual({ requests: FLOOD - Number(dropped), dropped });
      expect(parsed.at(-1)?.message).toBe('the gateway has stopped');
    },
  );
});

function mount(args: string[]): void {
  execFileSync('mount', args, { stdio: 'ignore' });
}

function mountsAnything(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
