import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startProcess, type Exit, type RunningProcess } from '../../local/stack/process.ts';
import { API_KEY, AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { openSocket } from '../support/open-socket.ts';
import { ACCEPTED, KEYED, sendCommand } from '../support/runtime.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
/** The start takes most of a second. */
const DELAYS_MS = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000];
const LISTENS = '"the gateway listens"';
/** Its lame duck, two minutes, is longer than a test may take. */
const LONG_DRAIN = { GATEWAY_DRAIN_TIMEOUT_MS: '600000' };

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

describe.each([
  { who: 'an ordinary process', wrapper: [] },
  { who: 'PID 1', wrapper: pidNamespace() },
])('a stop signal to $who during the start', ({ wrapper }) => {
  // The handlers came after all modules were loaded, for 0.9 s of the start: the signal killed an ordinary process, and
  // PID 1 never heard of it.
  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'])(
    'is heard before anything else is loaded: %s',
    async (signal) => {
      const { ended, messages } = start(wrapper, {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(signalAtFirstModule(signal))}`,
      });
      expect(await ended).toEqual({ code: 0, signal: null });
      expect(messages()).toEqual(['the gateway ends before it has started']);
    },
  );
});

describe('SIGTERM to PID 1', () => {
  it.each(DELAYS_MS)('is heard %i ms after Node has begun to run the program', async (delayMs) => {
    const { gateway } = start(pidNamespace(), { GATEWAY_DRAIN_TIMEOUT_MS: '100' });
    const pid = await catching('SIGHUP', gateway);
    await sleep(delayMs);
    process.kill(pid, 'SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('SIGTERM where the runtime takes no connection', () => {
  it('ends in time, with a command that waits and a scout that has no answer', async () => {
    const server = await startUnacceptingServer();
    closings.push(() => server.stop());
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_RUNTIME_INGRESS_URL: server.url,
        GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '600',
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
        GATEWAY_DRAIN_TIMEOUT_MS: '1000',
      },
    });
    closings.push(() => gateway.kill());
    expect(await sendCommand(gateway.url, KEYED)).toMatchObject({ status: 502 });
    const hanging = sendCommand(gateway.url, KEYED).catch(() => undefined);
    gateway.signal('SIGTERM');
    await hanging;
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('SIGINT', () => {
  // Ctrl-C took the five seconds in which load balancers look away, although there was none.
  it('ends a gateway without requests at once', async () => {
    const gateway = await startGatewayChild({ env: LONG_DRAIN });
    closings.push(() => gateway.kill());
    await openSocket(gateway.port);
    const kept = await openSocket(gateway.port);
    kept.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(kept, 'data');
    gateway.signal('SIGINT');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('closes the listener at once, and lets the requests in progress finish', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const upstream = await startScriptedUpstream((_request, response) => arrived.resolve(response));
    closings.push(() => upstream.stop());
    const gateway = await startGatewayChild({
      env: { ...LONG_DRAIN, GATEWAY_RUNTIME_INGRESS_URL: upstream.url },
    });
    closings.push(() => gateway.kill());
    const idle = await openSocket(gateway.port);
    const command = fetch(`${gateway.url}/api/a/echo/1/send`, {
      method: 'POST',
      headers: AUTHORIZED,
      body: '{}',
    });
    const runtime = await arrived.promise;
    gateway.signal('SIGINT');
    await once(idle.resume(), 'close');
    await expect(openSocket(gateway.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    runtime.end(ACCEPTED);
    expect((await command).status).toBe(202);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('SIGUSR1', () => {
  it('opens no debugger, and the gateway serves on', async () => {
    const gateway = await startGatewayChild({ env: { GATEWAY_DRAIN_TIMEOUT_MS: '1000' } });
    closings.push(() => gateway.kill());
    gateway.signal('SIGUSR1');
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(gateway.output.filter((line) => line.includes('Debugger'))).toEqual([]);
  });
});

/** A gateway that is not waited for. `ended` is undefined if it listens instead. */
function start(
  wrapper: string[],
  env: Record<string, string> = {},
): { gateway: RunningProcess; ended: Promise<Exit | undefined>; messages: () => unknown[] } {
  const lines: string[] = [];
  const [command, ...args] = [...wrapper, process.execPath, MAIN];
  const gateway = startProcess({
    name: 'gateway',
    command: command ?? process.execPath,
    args,
    env: {
      PATH: process.env.PATH,
      GATEWAY_API_KEYS: API_KEY,
      GATEWAY_PORT: '0',
      GATEWAY_MANAGEMENT_PORT: '0',
      ...env,
    },
    onLine: (line) => lines.push(line),
  });
  closings.push(() => gateway.kill());
  const listens = gateway.waitForLine((line) => line.includes(LISTENS)).then(() => undefined);
  return {
    gateway,
    ended: Promise.race([gateway.exited, listens]),
    messages: () => lines.map((line) => (JSON.parse(line) as { message: unknown }).message),
  };
}

/** A module that sends its own process a signal when anything but `main.js` is loaded. */
function signalAtFirstModule(signal: string): string {
  return `import { registerHooks } from 'node:module';
    let isSent = false;
    registerHooks({
      load(url, context, nextLoad) {
        if (!isSent && url.startsWith('file:') && !url.endsWith('/dist/main.js')) {
          isSent = true;
          process.kill(process.pid, '${signal}');
        }
        return nextLoad(url, context);
      },
    });`;
}

/** Resolves with the id of the wrapped process once it has a handler for a signal (proc(5), `SigCgt`). */
async function catching(signal: NodeJS.Signals, { pid: wrapper }: RunningProcess): Promise<number> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  for (;;) {
    const pid = Number(readFileSync(`/proc/${wrapper}/task/${wrapper}/children`, 'utf8'));
    const status = pid > 0 ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
    const caught = BigInt(`0x${/^SigCgt:\s+(\w+)$/m.exec(status)?.[1] ?? '0'}`);
    if ((caught & bit) !== 0n) return pid;
    await sleep(5);
  }
}

/** A command that makes a process PID 1. Anybody may do so in a user namespace of his own. */
function pidNamespace(): string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  return ['unshare', ...asRoot, '--pid', '--fork', '--kill-child', '--mount-proc'];
}
