/** `npm run local`: the whole system on this machine, with real upstreams. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AlreadyRunningError, isOpen, openDataFolder } from './stack/data-folder.ts';
import { exportLine, firstSteps } from './stack/first-steps.ts';
import { say } from './stack/output.ts';
import { clusterOf, HISTORIES, type HistoryKind } from './cluster/cluster.ts';
import { agentsUrl, loopback, SIMPLE, type Context, type Plan, type Ports } from './stack/parts.ts';
import { choosePorts } from './stack/ports.ts';
import { registerAgents } from './stack/register.ts';
import { RunNotes } from './stack/run-notes.ts';
import { RunningParts } from './stack/running-parts.ts';

const ROOT = join(import.meta.dirname, '..');
const STOP_GRACE_MS = 3_000;

const DROPPED =
  'dropped all agents with their state and pending messages, the registered deployments (register your own again), ' +
  "the timelines and the catalog's rows";

const HELP = `npm run local [-- OPTIONS]

Starts Restate, the history store, the catalog engine, the example agents, the gateway and the
console.

  --env         Print the export line of the running system again. .local/env holds it too.
  --status      Print what runs, and where.
  --fresh       Start empty: drop all agents with their state and pending messages, the registered
                deployments, the timelines, the catalog's rows and the remembered ports. The API key
                stays.
  --data DIR    Keep the data there instead of in .local/
  --cluster     Start three nodes of Restate and three gateways. Whichever part is killed, commands are
                accepted. The data are in .local-cluster/, unless --data says otherwise.
  --history KIND
                The history store of a cluster: node (default), or rivet: two processes and an engine,
                which npm brings the first time (120 MB).
  --any-ports   Take free ports instead of the usual ones, so that a second system can run. A folder
                keeps the ports that it had, while they are free.
  --help        Show this.

Of the gateway's settings GATEWAY_HOST and GATEWAY_DRAIN_TIMEOUT_MS may come from the environment.
`;

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      data: { type: 'string' },
      cluster: { type: 'boolean', default: false },
      history: { type: 'string', default: 'node' },
      'any-ports': { type: 'boolean', default: false },
      env: { type: 'boolean', default: false },
      status: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  const path = resolve(options.data ?? join(ROOT, options.cluster ? '.local-cluster' : '.local'));
  const plan = planOf(options);
  if (options.env || options.status) return tell(path, options);
  if (!existsSync(join(ROOT, 'dist/main.js'))) throw new Error('Build first: npm run build');
  try {
    await start(path, plan, options);
  } catch (error) {
    if (error instanceof AlreadyRunningError) tell(path, { env: true, status: true });
    throw error;
  }
}

function planOf({ cluster, history }: { cluster: boolean; history: string }): Plan {
  const kind = HISTORIES.find((each) => each === history) as HistoryKind | undefined;
  if (!kind || (kind !== 'node' && !cluster)) {
    throw new Error(`--history is ${HISTORIES.join(' or ')}, and for --cluster only`);
  }
  return cluster ? clusterOf(kind) : SIMPLE;
}

/** Prints what the running system has noted. */
function tell(path: string, { env, status }: { env: boolean; status: boolean }): void {
  if (!isOpen(path)) throw new Error(`No local system runs with its data in ${path}.`);
  const notes = new RunNotes(path);
  try {
    if (status) process.stdout.write(notes.status());
    if (env) process.stdout.write(notes.environment());
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? new Error('The local system is starting. Try again.') : error;
  }
}

async function start(
  path: string,
  plan: Plan,
  options: { fresh: boolean; 'any-ports': boolean },
): Promise<void> {
  const data = openDataFolder(path, options);
  try {
    if (data.dropped) say('local', DROPPED);
    const { usualPorts } = plan;
    const usual = options['any-ports'] ? anyPorts(usualPorts) : usualPorts;
    const wanted: Ports = { ...usual, ...(options.fresh ? {} : data.settings.ports) };
    const ports = await choosePorts(wanted);
    sayMovedPorts(wanted, ports);
    data.save({ ...data.settings, ports });
    await run(plan, { data, ports });
  } finally {
    data.unlock();
  }
}

/** Resolves after a signal, which ends everything in order. Rejects if a part ends again and again. */
async function run(plan: Plan, context: Context): Promise<void> {
  const notes = new RunNotes(context.data.path);
  const addresses = plan.addressesOf(context);
  const parts = new RunningParts({
    onRestart: (message) => say('local', message),
    mostEnds: plan.mostEnds,
    onChange: () => {
      const running = parts.running.map(({ name, pid }) => ({
        name,
        pid,
        address: addresses[name]!,
      }));
      notes.writeStatus({ pid: process.pid, parts: running });
    },
  });
  const stopped = stopSignal();
  const close = await plan.open?.(context);
  try {
    await Promise.race([stopped, parts.ended, startAll(plan, context, parts, notes)]);
    await Promise.race([stopped, parts.ended]);
  } finally {
    say('local', 'stopping everything');
    await parts.stop(STOP_GRACE_MS);
    await close?.();
    notes.removeStatus();
  }
}

async function startAll(
  plan: Plan,
  context: Context,
  parts: RunningParts,
  notes: RunNotes,
): Promise<void> {
  const { ports, data } = context;
  const baseUrl = loopback(ports.gateway);
  const system = {
    gatewayUrl: baseUrl,
    managementUrl: loopback(ports.management),
    consoleUrl: loopback(ports.console),
    catalogUrl: loopback(ports.catalog),
    environmentFile: notes.environmentFile,
    options: plan.options,
    ...data.settings,
  };
  notes.writeEnvironment(exportLine(system));
  for (const stage of plan.stages) {
    if (parts.stopping) return;
    const started = stage.map(({ name, start: startPart }) =>
      parts.start({
        name,
        start: async () => {
          const part = await startPart(context);
          say('local', `${name} is ready (pid ${part.pid})`);
          return part;
        },
      }),
    );
    await Promise.all(started);
  }
  if (parts.stopping) return;
  await registerAgents(baseUrl, data.settings.apiKey, agentsUrl(context), isOwnDeployment(context));
  await plan.untilAgentsAreKnown?.(context);
  process.stdout.write(firstSteps(system) + (plan.more?.() ?? ''));
}

/** Whether a deployment is that of the example agents of this system, wherever they were. */
function isOwnDeployment({ data }: Context): (uri: string) => boolean {
  return (uri) => new URL(uri).pathname.split('/')[1] === data.settings.systemName;
}

/** Resolves at the first stop signal. Further ones have no effect (npm repeats Ctrl-C). */
function stopSignal(): Promise<void> {
  return new Promise((resolveTold) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolveTold());
    }
  });
}

function anyPorts(usualPorts: Ports): Ports {
  return Object.fromEntries(Object.keys(usualPorts).map((name) => [name, 0])) as Ports;
}

function sayMovedPorts(wanted: Ports, chosen: Ports): void {
  for (const name of Object.keys(wanted) as (keyof Ports)[]) {
    if (wanted[name] === 0 || wanted[name] === chosen[name]) continue;
    say('local', `port ${wanted[name]} (${name}) is taken: using ${chosen[name]}`);
  }
}

// Whatever a part writes is for its owner only.
process.umask(0o077);
try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  // Exits at once. Starting parts end with this process, see `startProcess`.
  process.exit(1);
}
