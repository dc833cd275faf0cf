import { join } from 'node:path';
import { awaitOk } from './await-ok.ts';
import type { DataFolder } from './data-folder.ts';
import { environmentOfPart, settingsFromOutside } from './environment.ts';
import { openIdentity, type Identity } from './identity.ts';
import { readableLogLine, say, type Speaker } from './output.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningPart,
  type RunningProcess,
} from './process.ts';
import { startRestate } from './restate.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The default ports of the real systems. */
export const USUAL_PORTS = {
  ingress: 8080,
  admin: 9070,
  history: 4437,
  catalog: 3000,
  agents: 9080,
  gateway: 8787,
  management: 8788,
  console: 8789,
};
export type Ports = typeof USUAL_PORTS;

/** What a system consists of. */
export interface Plan {
  usualPorts: Ports;
  /** In starting order: each part may use those of earlier stages. Those of one stage start at the same time. */
  stages: readonly (readonly Part[])[];
  /** Where the parts are. */
  addressesOf(context: Context): Record<string, string>;
  /** Opens what leads to several copies of a part. Returns what closes it. */
  open?(context: Context): Promise<() => Promise<unknown>>;
  /** Resolves when every copy knows the agents that were registered. */
  untilAgentsAreKnown?(context: Context): Promise<void>;
  /** What follows `npm run local --` to name it. */
  options: string;
  /** What is printed after the first steps. */
  more?(): string;
  /** How often a part may end within a minute. */
  mostEnds?: number;
}

export interface Context {
  data: DataFolder;
  ports: Ports;
  /** Receives what the parts write. Default: it is printed. */
  onOutput?: (part: Speaker, line: string) => void;
}

export interface Part {
  name: Speaker;
  /** Resolves when the part can be used. */
  start: (context: Context) => Promise<RunningPart>;
}

export const HISTORY: Part = { name: 'history', start: startHistory };
export const CATALOG: Part = { name: 'catalog', start: startCatalog };
export const AGENTS: Part = { name: 'agents', start: startAgents };
export const CONSOLE: Part = { name: 'console', start: startConsole };

/** One of each part, in starting order. */
export const PARTS: Part[] = [
  { name: 'restate', start: startRuntime },
  HISTORY,
  CATALOG,
  AGENTS,
  { name: 'gateway', start: (context) => startGateway(context, context.ports) },
  CONSOLE,
];

export const SIMPLE: Plan = {
  usualPorts: USUAL_PORTS,
  stages: PARTS.map((part) => [part]),
  addressesOf,
  options: '',
};

export function addressesOf({ ports, data }: Context): Record<string, string> {
  return {
    restate: `${loopback(ports.ingress)}, admin API ${loopback(ports.admin)}`,
    history: loopback(ports.history),
    catalog: loopback(ports.catalog),
    agents: agentsUrl({ ports, data }),
    gateway: `${loopback(ports.gateway)}, probes and metrics ${loopback(ports.management)}`,
    console: loopback(ports.console),
  };
}

/** The `uri` of the example agents' deployment. Its path is the system's name, by which it is found when they have moved. */
export function agentsUrl({ ports, data }: Context): string {
  return `${loopback(ports.agents)}/${data.settings.systemName}`;
}

export const loopback = (port: number) => `http://127.0.0.1:${port}`;

function startRuntime({ data, ports, onOutput = say }: Context): Promise<RunningPart> {
  return startRestate({
    dataDir: data.restate,
    ingressPort: ports.ingress,
    adminPort: ports.admin,
    credential: data.settings.upstreamToken,
    identityKeyFile: identityOf(data).keyFile,
    onOutput: (line) => onOutput('restate', line),
  });
}

/** The example agents take work that is signed with it. */
export function identityOf(data: DataFolder): Identity {
  return openIdentity(join(data.restate, 'identity.pem'));
}

async function startHistory(context: Context): Promise<RunningPart> {
  const { data, ports } = context;
  const history = startNode(context, 'history', 'local/stack/history-main.ts', {
    HISTORY_PORT: ports.history,
    HISTORY_DATA: data.history,
    HISTORY_TOKEN: data.settings.upstreamToken,
  });
  await untilListening(history);
  return history;
}

async function startCatalog(context: Context): Promise<RunningPart> {
  const { data, ports } = context;
  const catalog = startNode(context, 'catalog', 'local/catalog/main.ts', {
    CATALOG_PORT: ports.catalog,
    CATALOG_DATA: join(data.catalog, 'catalog.sqlite'),
    CATALOG_SECRET: data.settings.catalogSecret,
  });
  await untilOk(catalog, `${loopback(ports.catalog)}/v1/health`);
  return catalog;
}

async function startAgents(context: Context): Promise<RunningPart> {
  const { data, ports } = context;
  const agents = startNode(context, 'agents', 'local/agents/main.ts', {
    AGENTS_PORT: ports.agents,
    AGENTS_SYSTEM: data.settings.systemName,
    AGENTS_IDENTITY_KEY: identityOf(data).publicKey,
    GATEWAY_URL: loopback(ports.gateway),
    GATEWAY_API_KEY: data.settings.agentsKey,
    CATALOG_URL: loopback(ports.catalog),
    CATALOG_TOKEN: data.settings.catalogSecret,
  });
  await untilListening(agents);
  return agents;
}

/** One copy of the gateway. */
export interface GatewayCopy {
  name?: Speaker;
  gateway: number;
  management: number;
  historyPath?: string;
}

export async function startGateway(context: Context, copy: GatewayCopy): Promise<RunningPart> {
  const { data, ports } = context;
  const { name = 'gateway', historyPath = '/v1/stream' } = copy;
  const settings = {
    ...settingsFromOutside(process.env),
    GATEWAY_PORT: copy.gateway,
    GATEWAY_MANAGEMENT_PORT: copy.management,
    GATEWAY_API_KEYS: [
      `${data.settings.apiKey} name=terminal`,
      `${data.settings.agentsKey} name=agents scopes=commands+streams:read+streams:write+streams:delete`,
      `${data.settings.consoleKey} name=console scopes=commands+registry:read+registry:write`,
    ].join(','),
    GATEWAY_READ_TOKEN_SECRETS: data.settings.readTokenSecret,
    GATEWAY_RUNTIME_INGRESS_URL: loopback(ports.ingress),
    GATEWAY_RUNTIME_INGRESS_TOKEN: data.settings.upstreamToken,
    GATEWAY_RUNTIME_ADMIN_URL: loopback(ports.admin),
    GATEWAY_RUNTIME_ADMIN_TOKEN: data.settings.upstreamToken,
    GATEWAY_HISTORY_URL: `${loopback(ports.history)}${historyPath}`,
    GATEWAY_HISTORY_TOKEN: data.settings.upstreamToken,
    GATEWAY_SYNC_URL: loopback(ports.catalog),
    GATEWAY_SYNC_SECRET: data.settings.catalogSecret,
  };
  const gateway = startNode(context, name, 'dist/main.js', settings, readableLogLine);
  await untilOk(gateway, `${loopback(copy.gateway)}/health`);
  return gateway;
}

async function startConsole(context: Context): Promise<RunningPart> {
  const { data, ports } = context;
  const part = startNode(context, 'console', 'local/console/main.ts', {
    CONSOLE_PORT: ports.console,
    GATEWAY_URL: loopback(ports.gateway),
    GATEWAY_API_KEY: data.settings.consoleKey,
    GATEWAY_READ_TOKEN_SECRETS: data.settings.readTokenSecret,
  });
  await untilListening(part);
  return part;
}

function startNode(
  { onOutput = say }: Context,
  name: Speaker,
  script: string,
  settings: Record<string, string | number | undefined>,
  readable?: (line: string) => string | undefined,
): RunningProcess {
  const texts = Object.entries(settings).map(([key, value]) => [key, value?.toString()]);
  return startProcess({
    name,
    command: process.execPath,
    args: [join(ROOT, script)],
    env: {
      ...environmentOfPart(process.env),
      ...(Object.fromEntries(texts) as NodeJS.ProcessEnv),
    },
    readable,
    onLine: (line) => onOutput(name, line),
  });
}

async function untilListening(part: RunningProcess): Promise<void> {
  await untilReady(part, READY_TIMEOUT_MS, () =>
    part.waitForLine((line) => line.includes('listening')),
  );
}

async function untilOk(part: RunningProcess, url: string): Promise<void> {
  await untilReady(part, READY_TIMEOUT_MS, (signal) => awaitOk(url, signal));
}
