/** `npm run local`: the whole system on this machine, with real upstreams. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataFolder } from './stack/data-folder.ts';
import { firstSteps } from './stack/first-steps.ts';
import { say } from './stack/output.ts';
import { loopback, PARTS, USUAL_PORTS, type Context, type Ports } from './stack/parts.ts';
import { choosePorts } from './stack/ports.ts';
import { registerAgents } from './stack/register.ts';
import { RunningParts } from './stack/running-parts.ts';

const ROOT = join(import.meta.dirname, '..');
const STOP_GRACE_MS = 3_000;

const HELP = `npm run local [-- OPTIONS]

Starts Restate, the history store, the catalog engine, the example agents, the gateway and the
console.

  --fresh       Start empty: forget all agents, timelines and catalog rows (not the API key).
  --data DIR    Keep the data there instead of in .local/
  --any-ports   Take free ports instead of the usual ones, so that a second system can run.
  --help        Show this.

Of the gateway's settings GATEWAY_HOST and GATEWAY_DRAIN_TIMEOUT_MS may come from the environment.
`;

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      data: { type: 'string', default: join(ROOT, '.local') },
      'any-ports': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  if (!existsSync(join(ROOT, 'dist/main.js'))) throw new Error('Build first: npm run build');

  const data = openDataFolder(resolve(options.data), options);
  try {
    const usual = options['any-ports'] ? anyPorts() : USUAL_PORTS;
    const wanted = { ...usual, agents: data.settings.agentsPort ?? usual.agents };
    const ports = await choosePorts(wanted);
    sayMovedPorts(wanted, ports);
    data.save({ ...data.settings, agentsPort: ports.agents });
    await run({ data, ports });
  } finally {
    data.unlock();
  }
}

/** Resolves after a signal, which ends everything in order. Rejects if a part ends by itself. */
async function run(context: Context): Promise<void> {
  const parts = new RunningParts();
  const stopped = stopSignal();
  try {
    await Promise.race([stopped, parts.ended, startAll(context, parts)]);
    await Promise.race([stopped, parts.ended]);
  } finally {
    say('local', 'stopping everything');
    await parts.stop(STOP_GRACE_MS);
  }
}

async function startAll(context: Context, parts: RunningParts): Promise<void> {
  for (const { name, start } of PARTS) {
    if (parts.stopping) return;
    const part = await start(context);
    parts.add(part);
    say('local', `${name} is ready (pid ${part.pid})`);
  }
  if (parts.stopping) return;
  const { ports, data } = context;
  const baseUrl = loopback(ports.gateway);
  await registerAgents(baseUrl, data.settings.apiKey, loopback(ports.agents));
  const steps = firstSteps({
    gatewayUrl: baseUrl,
    managementUrl: loopback(ports.management),
    consoleUrl: loopback(ports.console),
    catalogUrl: loopback(ports.catalog),
    ...data.settings,
  });
  process.stdout.write(steps);
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
