/** `npm run local`: the whole system on this machine, with real upstreams. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AlreadyRunningError, isOpen, openDataFolder } from './stack/data-folder.ts';
import { exportLine, firstSteps } from './stack/first-steps.ts';
import { say } from './stack/output.ts';
import {
  addressesOf,
  agentsUrl,
  catalogUrl,
  loopback,
  PARTS,
  USUAL_PORTS,
  type Context,
  type Ports,
} from './stack/parts.ts';
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
  --any-ports   Take free ports instead of the usual ones, so that a second system can run. A folder
                keeps the ports that it had, while they are free.
  --help        Show this.

Of the gateway's settings GATEWAY_HOST and GATEWAY_DRAIN_TIMEOUT_MS may come from the environment.
`;

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      data: { type: 'string', default: join(ROOT, '.local') },
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
  const path = resolve(options.data);
  if (options.env || options.status) return tell(path, options);
  if (!existsSync(join(ROOT, 'dist/main.js'))) throw new Error('Build first: npm run build');
  try {
    await start(path, options);
  } catch (error) {
    if (error instanceof AlreadyRunningError) tell(path, { env: true, status: true });
    throw error;
  }
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
  options: { fresh: boolean; 'any-ports': boolean },
): Promise<void> {
  const data = openDataFolder(path, options);
  try {
    if (data.dropped) say('local', DROPPED);
    const usual = options['any-ports'] ? anyPorts() : USUAL_PORTS;
    const wanted: Ports = { ...usual, ...(options.fresh ? {} : data.settings.ports) };
    const ports = await choosePorts(wanted);
    sayMovedPorts(wanted, ports);
    data.save({ ...data.settings, ports });
    await run({ data, ports });
  } finally {
    data.unlock();
  }
}

/** Resolves after a signal, which ends everything in order. Rejects if a part ends again and again. */
async function run(context: Context): Promise<void> {
  const notes = new RunNotes(context.data.path);
  const addresses = addressesOf(context);
  const parts = new RunningParts({
    onRestart: (message) => say('local', message),
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
  try {
    await Promise.race([stopped, parts.ended, startAll(context, parts, notes)]);
    await Promise.race([stopped, parts.ended]);
  } finally {
    say('local', 'stopping everything');
    await parts.stop(STOP_GRACE_MS);
    notes.removeStatus();
  }
}

async function startAll(context: Context, parts: RunningParts, notes: RunNotes): Promise<void> {
  const { ports, data } = context;
  const baseUrl = loopback(ports.gateway);
  const system = {
    gatewayUrl: baseUrl,
    managementUrl: loopback(ports.management),
    consoleUrl: loopback(ports.console),
    catalogUrl: catalogUrl(context),
    environmentFile: notes.environmentFile,
    ...data.settings,
  };
  notes.writeEnvironment(exportLine(system));
  for (const { name, start: startPart } of PARTS) {
    if (parts.stopping) return;
    await parts.start({
      name,
      start: async () => {
        const part = await startPart(context);
        say('local', `${name} is ready (pid ${part.pid})`);
        return part;
      },
    });
  }
  if (parts.stopping) return;
  await registerAgents(baseUrl, data.settings.apiKey, agentsUrl(context), isOwnDeployment(context));
  process.stdout.write(firstSteps(system));
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

function anyPorts(): Ports {
  return Object.fromEntries(Object.keys(USUAL_PORTS).map((name) => [name, 0])) as Ports;
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
