import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../../../local/stack/data-folder.ts';
import { agentsUrl, loopback, PARTS, USUAL_PORTS } from '../../../local/stack/parts.ts';
import type { Context, Ports } from '../../../local/stack/parts.ts';
import { choosePorts } from '../../../local/stack/ports.ts';
import type { RunningPart } from '../../../local/stack/process.ts';
import { registerAgents } from '../../../local/stack/register.ts';
import { AgentGateway } from '../../../packages/client/src/index.ts';

export type PartName = 'restate' | 'history' | 'catalog' | 'agents' | 'gateway' | 'console';

/** The parts of a local system without the one that starts them again, so that they stay dead. */
export interface DrillWorld {
  url: string;
  baseUrl: string;
  apiKey: string;
  gateway: AgentGateway;
  /** What the parts have written, line by line. */
  output: string[];
  /** Ends a part with SIGKILL. */
  kill(part: PartName): Promise<void>;
  /** Starts a killed part again, at the same address and with the same data. */
  start(part: PartName): Promise<void>;
  /** Stops a part without ending it: it takes connections and answers nothing. */
  freeze(part: PartName): void;
  thaw(part: PartName): void;
}

export async function withDrillWorld(work: (world: DrillWorld) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'drill-'));
  const data = openDataFolder(folder, { fresh: false });
  const parts = new Map<string, RunningPart>();
  const output: string[] = [];
  try {
    const free = Object.fromEntries(Object.keys(USUAL_PORTS).map((name) => [name, 0]));
    const onOutput = (part: string, line: string): void => void output.push(`${part}: ${line}`);
    const context: Context = { data, ports: await choosePorts(free as Ports), onOutput };
    for (const { name, start } of PARTS) parts.set(name, await start(context));
    const baseUrl = loopback(context.ports.gateway);
    const { apiKey } = data.settings;
    await registerAgents(baseUrl, apiKey, agentsUrl(context));
    await work({
      url: loopback(context.ports.console),
      baseUrl,
      apiKey,
      gateway: new AgentGateway({ url: baseUrl, apiKey }),
      output,
      ...actionsOn(parts, context),
    });
  } finally {
    await Promise.all([...parts.values()].map((part) => part.stop(0)));
    data.unlock();
    await rm(folder, { recursive: true });
  }
}

function actionsOn(
  parts: Map<string, RunningPart>,
  context: Context,
): Pick<DrillWorld, 'kill' | 'start' | 'freeze' | 'thaw'> {
  const signal = (name: PartName, how: NodeJS.Signals): RunningPart => {
    const part = parts.get(name)!;
    // Its whole group: a part may have processes of its own.
    process.kill(-part.pid, how);
    return part;
  };
  return {
    kill: async (name) => void (await signal(name, 'SIGKILL').exited),
    start: async (name) => {
      parts.set(name, await PARTS.find((part) => part.name === name)!.start(context));
    },
    freeze: (name) => void signal(name, 'SIGSTOP'),
    thaw: (name) => void signal(name, 'SIGCONT'),
  };
}
