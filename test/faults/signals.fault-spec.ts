import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { RunningProcess } from '../../local/stack/process.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { launchGateway, startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { openSocket } from '../support/open-socket.ts';
import { ACCEPTED, KEYED, sendCommand } from '../support/runtime.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';
import { until } from '../support/until.ts';

/** The start takes most of a second. */
const DELAYS_MS = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000];
const LISTENS = '"the gateway listens"';
/** Its lame duck, two minutes, is longer than a test may take. */
const LONG_DRAIN = { GATEWAY_DRAIN_TIMEOUT_MS: '600000' };

describe.each([
  { who: 'an ordinary process', wrapper: [] },
  { who: 'PID 1', wrapper: pidNamespace() },
])('a stop signal to $who during the start', ({ wrapper }) => {
  // The handlers came after all modules were loaded, for 0.9 s of the start: the signal killed an ordinary process, and
  // PID 1 never heard of it.
  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'])(
    'is heard before anything else is loaded: %s',
    async (signal) => {
      const module = encodeURIComponent(signalAtFirstModule(signal));
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${module}` };
      const { gateway, log } = await launch({ wrapper, env });
      const listens = gateway.waitForLine((line) => line.includes(LISTENS));
      expect(await Promise.race([gateway.exited, listens])).toEqual({ code: 0, signal: null });
      expect(log.map(({ message }) => message)).toEqual(['the gateway ends before it has started']);
    },
  );
});

describe('SIGTERM to PID 1', () => {
  it.each(DELAYS_MS)('is heard %i ms after Node has begun to run the program', async (delayMs) => {
    const env = { GATEWAY_DRAIN_TIMEOUT_MS: '100' };
    const { gateway } = await launch({ wrapper: pidNamespace(), env });
    const pid = await catching('SIGHUP', gateway);
    await sleep(delayMs);
    process.kill(pid, 'SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('SIGTERM where the runtime takes no connection', () => {
  it('ends in time, with a command that waits and a scout that has no answer', async () => {
    const server = forThisTest(await startUnacceptingServer());
    const gateway = await start({
      GATEWAY_RUNTIME_INGRESS_URL: server.url,
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '600',
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
      GATEWAY_DRAIN_TIMEOUT_MS: '1000',
    });
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
    const gateway = await start(LONG_DRAIN);
    await openSocket(gateway.port);
    const kept = await openSocket(gateway.port);
    kept.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(kept, 'data');
    gateway.signal('SIGINT');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('closes the listener at once, and lets the requests in progress finish', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const { url } = forThisTest(
      await startScriptedUpstream((_request, response) => arrived.resolve(response)),
    );
    const gateway = await start({ ...LONG_DRAIN, GATEWAY_RUNTIME_INGRESS_URL: url });
    const idle = await openSocket(gateway.port);
    const command = sendCommand(gateway.url);
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
    const gateway = await start({ GATEWAY_DRAIN_TIMEOUT_MS: '1000' });
    gateway.signal('SIGUSR1');
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(gateway.output.filter((line) => line.includes('Debugger'))).toEqual([]);
  });
});

async function start(env: Record<string, string>): Promise<GatewayChild> {
  const gateway = await startGatewayChild({ env });
  afterThisTest(() => gateway.kill());
  return gateway;
}

const launch: typeof launchGateway = async (options) => {
  const launched = await launchGateway(options);
  afterThisTest(() => launched.gateway.kill());
  return launched;
};

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
  let pid = 0;
  await until(`${signal} has a handler`, () => {
    pid = Number(readFileSync(`/proc/${wrapper}/task/${wrapper}/children`, 'utf8'));
    const status = pid > 0 ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
    const caught = BigInt(`0x${/^SigCgt:\s+(\w+)$/m.exec(status)?.[1] ?? '0'}`);
    return (caught & bit) !== 0n;
  });
  return pid;
}

/** A command that makes a process PID 1. Anybody may do so in a user namespace of his own. */
function pidNamespace(): string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  return ['unshare', ...asRoot, '--pid', '--fork', '--kill-child', '--mount-proc'];
}
