import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awaitOk } from '../../local/stack/await-ok.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { findTool } from '../helm/tools.ts';

const ROOT = join(import.meta.dirname, '../..');

export const HOW_TO_GET_PROMETHEUS = `There is no prometheus with its promtool here, so nothing was tested.
On Debian or Ubuntu: apt-get install --no-install-recommends prometheus`;

/** Whether both programs are installed. */
export function hasPrometheus(): boolean {
  return findTool('prometheus') !== undefined && findTool('promtool') !== undefined;
}

export const ALERTS_PATH = join(ROOT, 'helm/agent-gateway/files/alerts.yaml');

/** The configuration of docs/metrics.md for one target, with a scrape every second. */
export async function configurationOf(target: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/metrics.md'), 'utf8');
  const shown = /^```yaml prometheus\.yml\n(.*?)^```$/ms.exec(page)?.[1];
  if (shown === undefined) throw new Error('docs/metrics.md shows no prometheus.yml');
  const configuration = shown
    .replace(/targets: \[.*\]/, `targets: ['${target}']`)
    .replace(/- \S*alerts\.yaml/, `- ${ALERTS_PATH}`);
  return `global: { scrape_interval: 1s, evaluation_interval: 1s }\n${configuration}`;
}

/** The fields of a response of Prometheus' HTTP API that are used. */
export interface ApiAnswer<Data> {
  status: string;
  error?: string;
  data: Data;
}

export interface RunningPrometheus {
  ask<Data>(path: string, parameters?: Record<string, string>): Promise<ApiAnswer<Data>>;
  stop(): Promise<void>;
}

/** Runs a real Prometheus that scrapes one gateway, with its rules. */
export async function startPrometheus(target: string): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-prometheus-'));
  const configPath = join(folder, 'prometheus.yml');
  await writeFile(configPath, await configurationOf(target));
  const { port } = await choosePorts({ port: 0 });
  const url = `http://127.0.0.1:${port}`;
  const server = startProcess({
    name: 'prometheus',
    command: findTool('prometheus') ?? 'prometheus',
    args: [
      `--config.file=${configPath}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    env: { PATH: process.env.PATH },
  });
  await untilReady(server, READY_TIMEOUT_MS, (signal) => awaitOk(`${url}/-/ready`, signal));
  return {
    ask: async (path, parameters = {}) => {
      const response = await fetch(`${url}/api/v1/${path}`, {
        method: Object.keys(parameters).length > 0 ? 'POST' : 'GET',
        ...(Object.keys(parameters).length > 0 && { body: new URLSearchParams(parameters) }),
      });
      return (await response.json()) as ApiAnswer<never>;
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}
