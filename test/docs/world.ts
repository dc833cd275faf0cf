import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { startSystemByNpm } from '../support/local-system.ts';
import { queryRestate } from '../support/query-restate.ts';
import { ROOT } from './pages.ts';

/** The addresses that the pages show: those of a system on its default ports. */
const SHOWN_PORTS = { gateway: 8787, management: 8788, console: 8789, agents: 9080 };
type Port = keyof typeof SHOWN_PORTS;

/** What a reader who follows a page has: the system, started as the README says, on free ports. */
export interface World {
  /** All that the system has said, a line each. */
  said: string[];
  gatewayUrl: string;
  apiKey: string;
  /** The line to paste that it printed. */
  exportLine: string;
  /** Removes the agents of a page that has ended: they are gone, which `doctor` would say on the next page. */
  forgetAgents(): Promise<void>;
  /** Commands with the addresses of this system in place of those shown. */
  toReal(commands: string): string;
  /** Output the other way. */
  toShown(output: string): string;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'docs-data-'));
  const system = await startSystemByNpm(dataDir);
  const { said, printed, baseUrl: gatewayUrl, apiKey } = system;
  const consoleUrl = printed(/^The console, .*: (\S+)$/);
  const portOf = (url: string): string => new URL(url).port;
  const agentsUrl = printed(/agents listening on (\S+)$/);
  const real: Record<Port, string> = {
    gateway: portOf(gatewayUrl),
    management: portOf(printed(/^How it is: (\S+)$/)),
    console: portOf(consoleUrl),
    // With its path, the name of the system.
    agents: agentsUrl.slice('http://127.0.0.1:'.length),
  };
  return {
    said,
    gatewayUrl,
    apiKey,
    exportLine: printed(/^ {2}(export .*)$/),
    forgetAgents: async () => {
      const { deployments, invocations } = new AgentGateway({ url: gatewayUrl, apiKey });
      const gone = (await deployments.list()).filter(({ uri }) => !uri?.startsWith(agentsUrl));
      if (gone.length === 0) return;
      for (const { id } of gone) await deployments.remove(id, { force: true });
      // What they had begun would be retried for good. The library's own list leaves watchers out.
      const targets = gone.flatMap(({ services }) => services.map(({ name }) => `'${name}'`));
      const query = `SELECT id FROM sys_invocation WHERE status <> 'completed' AND target_service_name IN (${targets.join()})`;
      const authorized = { authorization: `Bearer ${apiKey}` };
      const left = await queryRestate<{ id: string }>(gatewayUrl, authorized, query);
      for (const { id } of left) await invocations.kill(id);
    },
    toReal: (commands: string) =>
      replaceAll(commands, (name) => [
        new RegExp(`(127\\.0\\.0\\.1|localhost):${SHOWN_PORTS[name]}\\b`, 'g'),
        `127.0.0.1:${real[name]}`,
      ]),
    toShown: (output: string) =>
      replaceAll(output, (name) => [
        new RegExp(`127\\.0\\.0\\.1:${real[name]}\\b`, 'g'),
        `127.0.0.1:${SHOWN_PORTS[name]}`,
      ]),
    stop: async () => {
      await system.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function replaceAll(text: string, pair: (name: Port) => [RegExp, string]): string {
  return (Object.keys(SHOWN_PORTS) as Port[]).reduce(
    (rest, name) => rest.replace(...pair(name)),
    text,
  );
}

/** A folder that looks like the project's, for the files that a page writes. */
export function projectLookalike(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docs-page-'));
  for (const name of readdirSync(ROOT)) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, name), join(folder, name));
  }
  return folder;
}

/** The environment of a reader's terminal: without what npm adds for its scripts. */
export function readersEnvironment(): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return {
    HOME: process.env.HOME,
    LANG: 'C.UTF-8',
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    PATH: path.join(delimiter),
    // A page may start a gateway of its own beside the one of the system.
    GATEWAY_PORT: '0',
    GATEWAY_MANAGEMENT_PORT: '0',
    GATEWAY_DRAIN_TIMEOUT_MS: '500',
  };
}
