import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { EventEmitter, on } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { API_KEY, AUTHORIZED, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startHistoryChild, type HistoryChild } from '../support/history-child.ts';
import { shareOf } from '../support/share.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];
const STREAM = '/streams/t/default/dev';
const CHANGES = shareOf(100);
/** Only a test that hangs takes this long. */
const HANG_MS = 60_000;

/** `npm run start:dev` in a copy of the project. The test changes the source of the copy. */
/** With a condition, because the compiler takes what follows a plain `throw` for code of no type. */
const FAILURE = "if (process.pid > 0) throw new Error('on purpose');";

describe('npm run start:dev', () => {
  const output = new EventEmitter();
  const seen: string[] = [];
  const held = new EventEmitter();
  let folder: string;
  let url: string;
  let dev: RunningProcess;
  let history: HistoryChild;
  let runtime: ScriptedUpstream;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-dev-'));
    for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    history = await startHistoryChild();
    // Never answers: what is sent there is under way until the gateway ends.
    runtime = await startScriptedUpstream(() => held.emit('request'));
    const { gateway, management } = await choosePorts({ gateway: 0, management: 0 });
    url = `http://127.0.0.1:${gateway}`;
    dev = startProcess({
      name: 'npm run start:dev',
      command: 'npm',
      args: ['--prefix', folder, 'run', 'start:dev'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        GATEWAY_HOST: '127.0.0.1',
        GATEWAY_PORT: String(gateway),
        GATEWAY_MANAGEMENT_PORT: String(management),
        GATEWAY_API_KEYS: API_KEY,
        GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
        GATEWAY_HISTORY_URL: history.url,
        GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
        GATEWAY_RUNTIME_ADMIN_URL: runtime.url,
        GATEWAY_SYNC_URL: runtime.url,
      },
      onLine: (line) => {
        seen.push(line);
        output.emit('line', line);
      },
    });
    await said('the gateway listens');
    await fetch(url + STREAM, { method: 'PUT', headers: AUTHORIZED, body: 'x' });
  }, HANG_MS);
  afterAll(async () => {
    await dev?.stop();
    await runtime?.stop();
    await history?.process.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The next line with that text. Begin to wait before what brings it. */
  async function said(text: string): Promise<string> {
    try {
      for await (const [line] of on(output, 'line', { signal: AbortSignal.timeout(HANG_MS) })) {
        if (String(line).includes(text)) return String(line);
      }
    } catch (cause) {
      const last = seen.slice(-15).join('\n');
      throw new Error(`no line with ${JSON.stringify(text)}; the last ones:\n${last}`, { cause });
    }
    throw new Error('unreachable');
  }

  /** Replaces a text in a file of the source. */
  async function change(path: string, from: string | RegExp, to: string): Promise<void> {
    const file = join(folder, path);
    const before = await readFile(file, 'utf8');
    const after = before.replace(from, to);
    expect(after).not.toBe(before);
    await writeFile(file, after);
  }

  const changeGreeting = (to: string): Promise<void> =>
    change('src/bootstrap.ts', /'the gateway listens.*'/, `'the gateway listens, ${to}'`);

  /** An event stream, a long-poll and a command, each under way; resolves once all of them are, with their ends. */
  async function keepBusy(): Promise<{ ended: Promise<unknown> }> {
    const isHeld = new Promise((resolve) => held.once('request', resolve));
    const command = fetch(`${url}/api/a/assistant/dev/send`, {
      method: 'POST',
      headers: AUTHORIZED,
      body: 'x',
    });
    const events = await fetch(`${url}${STREAM}?offset=-1&live=sse`, { headers: AUTHORIZED });
    const tail = events.headers.get('stream-next-offset') ?? 'now';
    const poll = fetch(`${url}${STREAM}?offset=${tail}&live=long-poll`, { headers: AUTHORIZED });
    const ended = Promise.allSettled([command, events.text(), poll.then((read) => read.text())]);
    await isHeld;
    expect(events.status).toBe(200);
    return { ended };
  }

  // The old process went on listening while it drained; the new one met EADDRINUSE, and nothing served from then on.
  it(
    `serves the new code after each of ${CHANGES} changes, with reads and a command under way`,
    async () => {
      const tookMs: number[] = [];
      for (let index = 1; index <= CHANGES; index++) {
        const { ended } = await keepBusy();
        const back = said(`the gateway listens, change ${index}"`);
        const changedAtMs = performance.now();
        await changeGreeting(`change ${index}`);
        await back;
        expect((await fetch(`${url}/health`)).status).toBe(200);
        tookMs.push(performance.now() - changedAtMs);
        await ended;
      }
      report(tookMs);
      expect(seen.filter((line) => line.includes('EADDRINUSE'))).toEqual([]);
    },
    CHANGES * HANG_MS,
  );

  it(
    'keeps the old code where the new one does not compile, and takes the next that does',
    async () => {
      const refused = said('Found 1 error');
      await changeGreeting("broken' + (0 satisfies string) + '");
      await refused;
      expect((await fetch(`${url}/health`)).status).toBe(200);

      const back = said('the gateway listens, mended"');
      await changeGreeting('mended');
      await back;
      expect((await fetch(`${url}/health`)).status).toBe(200);
    },
    HANG_MS,
  );

  it(
    'starts again at the next change after a process that ended by itself',
    async () => {
      const failed = said('agent-gateway: on purpose');
      await change('src/bootstrap.ts', /setCollectorFlags\(\);/, FAILURE);
      await failed;

      const back = said('the gateway listens, mended"');
      await change('src/bootstrap.ts', FAILURE, 'setCollectorFlags();');
      await back;
      expect((await fetch(`${url}/health`)).status).toBe(200);
    },
    HANG_MS,
  );
});

/** Printed but not asserted, because it depends on the machine. */
function report(tookMs: number[]): void {
  const sorted = tookMs.toSorted((a, b) => a - b).map(Math.round);
  const [median, longest] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  process.stderr.write(
    `from a change to the new gateway: ${median} ms at the median, ${longest} ms at most\n`,
  );
}
