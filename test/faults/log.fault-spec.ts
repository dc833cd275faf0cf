import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openSocket } from '../support/open-socket.ts';
import { startWritingTo, type WritingGateway } from './log-output.ts';

/** Lines of about 700 bytes each: more than 4 MiB. */
const FLOOD = 9_600;
const MAX_WAITING_BYTES = 4_194_304;
const DROPPED = 'gateway_log_lines_dropped_total';
const WAITING = 'gateway_log_waiting_bytes';

type Line = { message: string; droppedLines?: number };

let folder: string;
let pipes = 0;
const closings: (() => unknown)[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-log-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

async function start(path: string, env: Record<string, string> = {}): Promise<WritingGateway> {
  const gateway = await startWritingTo(path, { GATEWAY_DRAIN_TIMEOUT_MS: '1000', ...env });
  closings.push(() => gateway.process.kill());
  return gateway;
}

/** A pipe that this process holds open without reading. */
function makePipe(): { path: string; fd: number } {
  const path = join(folder, `pipe-${pipes++}`);
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return { path, fd };
}

function makeUnreadPipe(): string {
  const { path, fd } = makePipe();
  closings.push(() => closeSync(fd));
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
    await gateway.until(DROPPED, (lines) => lines > 0);
    expect(await gateway.metric(WAITING)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    gateway.signal('SIGTERM');
    expect(await gateway.process.exited).toEqual({ code: 0, signal: null });
  });

  it('does not hold up a second signal', async () => {
    const gateway = await start(output(), { GATEWAY_DRAIN_TIMEOUT_MS: '4000' });
    await gateway.request(FLOOD);
    const idle = await openSocket(gateway.port);
    closings.push(() => idle.destroy());
    gateway.signal('SIGTERM');
    // Idle connections are closed after a fifth of the time.
    await once(idle.resume(), 'close');
    gateway.signal('SIGTERM');
    expect(await gateway.process.exited).toEqual({ code: 1, signal: null });
  });
});

describe('a log whose reader is away', () => {
  it('continues where it stopped when the reader is back, and tells how many lines are missing', async () => {
    const { path, fd } = makePipe();
    const reader = new Socket({ fd, readable: true, writable: false });
    closings.push(() => reader.destroy());
    reader.pause();
    const gateway = await start(path);
    await gateway.request(FLOOD);
    await gateway.until(DROPPED, (lines) => lines > 0);

    const lines: Line[] = [];
    const stopped = Promise.withResolvers<void>();
    createInterface({ input: reader }).on('line', (line) => {
      lines.push(JSON.parse(line) as Line);
      if (lines.at(-1)?.message === 'the gateway has stopped') stopped.resolve();
    });
    await gateway.until(WAITING, (bytes) => bytes === 0);
    const dropped = await gateway.metric(DROPPED);
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
    expect(await gateway.process.exited).toEqual({ code: 0, signal: null });
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mountsAnything();

// The first error with room again ended the process, as an exception.
describe('a log in a file on a full disk', () => {
  (canMount ? it : it.skip)(
    'continues when there is room again, with no line torn (needs root, to mount a small disk)',
    async () => {
      const disk = await mkdtemp(join(folder, 'disk-'));
      mount(['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
      closings.push(() => execFileSync('umount', [disk]));
      const file = join(disk, 'log');
      const gateway = await start(file);
      await gateway.request(FLOOD);
      await gateway.until(DROPPED, (lines) => lines > 0);

      mount(['-o', 'remount,size=16m', disk]);
      await gateway.until(WAITING, (bytes) => bytes === 0);
      const dropped = await gateway.metric(DROPPED);
      gateway.signal('SIGTERM');
      expect(await gateway.process.exited).toEqual({ code: 0, signal: null });

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
