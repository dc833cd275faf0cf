import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgents } from '../../local/agents/agents-server.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningProcess,
} from '../../local/stack/process.ts';
import { registerAgents } from '../../local/stack/register.ts';
import { awaitOk } from '../../local/stack/await-ok.ts';
import { startRestate } from '../../local/stack/restate.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { API_KEY } from '../support/credentials.ts';
import { startHistoryChild } from '../support/history-child.ts';
import { startHaproxy, type Backend } from '../support/haproxy.ts';
import type { Keep } from '../support/parts.ts';

const ROOT = join(import.meta.dirname, '../..');
const CATALOG_MAIN = join(ROOT, 'local/catalog/main.ts');
const PROBE = join(import.meta.dirname, 'probe.ts');

/** A backend slot of the load balancer. The gateway in it changes. */
export interface Slot extends Backend {
  probeSocket: string;
  gateway: GatewayChild;
}

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Starts the whole system, every part of it real. */
export async function startStack(keep: Keep) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-soak-'));
  await keep({ stop: () => rm(folder, { recursive: true }) });
  // A copy: a build meanwhile must not change what is under test.
  const code = join(folder, 'gateway');
  await cp(join(ROOT, 'dist'), join(code, 'dist'), { recursive: true });
  // The gateway reads its version from it.
  await cp(join(ROOT, 'package.json'), join(code, 'package.json'));

  const ports = await choosePorts({
    port0: 0,
    management0: 0,
    port1: 0,
    management1: 0,
    history: 0,
    catalog: 0,
  });
  const restate = await keep(startRestate({ dataDir: join(folder, 'restate') }));
  const history = await startHistoryChild(ports.history);
  await keep(history.process);
  const historyLink = await keep(startFlakyLink(ports.history));
  const catalogUrl = `http://127.0.0.1:${ports.catalog}`;
  let catalog = await startCatalog(ports.catalog, folder);
  await keep({ stop: () => catalog.stop() });

  const launch = ({ port, managementPort, probeSocket }: Omit<Slot, 'gateway'>) =>
    startGatewayChild({
      main: join(code, 'dist/main.js'),
      nodeArgs: ['--expose-gc', '--import', PROBE],
      env: {
        SOAK_PROBE_SOCKET: probeSocket,
        GATEWAY_PORT: String(port),
        GATEWAY_MANAGEMENT_PORT: String(managementPort),
        GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl,
        GATEWAY_RUNTIME_ADMIN_URL: restate.adminUrl,
        GATEWAY_HISTORY_URL: `${historyLink.url}${new URL(history.url).pathname}`,
        GATEWAY_SYNC_URL: catalogUrl,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '5000',
        GATEWAY_DRAIN_TIMEOUT_MS: '5000',
      },
    });
  const fill = async (index: 0 | 1): Promise<Slot> => {
    const place = {
      port: ports[`port${index}`],
      managementPort: ports[`management${index}`],
      probeSocket: join(folder, `probe-${index}.sock`),
    };
    const slot = { ...place, gateway: await launch(place) };
    // The one that stands there then: it is replaced again and again.
    await keep({ stop: () => slot.gateway.kill() });
    return slot;
  };
  const staying = await fill(0);
  const replaced = await fill(1);
  const haproxy = await keep(startHaproxy([staying, replaced]));
  const agents = await keep(
    startAgents({
      port: 0,
      gatewayUrl: haproxy.url,
      apiKey: API_KEY,
      catalogUrl,
      wordDelayMs: 1,
    }),
  );
  await registerAgents(haproxy.url, API_KEY, agents.url);

  return {
    url: haproxy.url,
    restate,
    /** Between the gateways and the history store, which is in memory: it must not lose what it has. */
    historyLink,
    historyUrl: history.url,
    catalogUrl,
    staying,
    replaced,
    /** SIGKILL, and at once a new process on the same data. */
    restartCatalog: async () => {
      await catalog.kill();
      catalog = await startCatalog(ports.catalog, folder);
    },
    /** Ends the second gateway and starts another one in its place; the exit code. */
    replaceGateway: async (signal: 'SIGTERM' | 'SIGKILL') => {
      replaced.gateway.signal(signal);
      const { code: exitCode } = await replaced.gateway.exited;
      await rm(replaced.probeSocket, { force: true });
      replaced.gateway = await launch(replaced);
      return exitCode;
    },
  };
}

async function startCatalog(port: number, folder: string): Promise<RunningProcess> {
  const catalog = startProcess({
    name: 'catalog',
    command: process.execPath,
    args: [CATALOG_MAIN],
    env: {
      PATH: process.env.PATH,
      CATALOG_PORT: String(port),
      CATALOG_DATA: join(folder, 'catalog.sqlite'),
    },
  });
  await untilReady(catalog, READY_TIMEOUT_MS, (signal) =>
    awaitOk(`http://127.0.0.1:${port}/v1/health`, signal),
  );
  return catalog;
}
