import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { startRestate, type RunningRestate } from '../../local/stack/restate.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { newFolder, type Folder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';

export const TYPE = 'turn-agent';
export const PARTS = ['agents', 'gateway', 'restate', 'store'] as const;
export type Part = (typeof PARTS)[number];

export interface TurnEvent {
  seq: number;
  at: string;
  kind: string;
  [name: string]: unknown;
}

/** `npm run test:python` has these tests run with the agent of the Python kit, from the folder of its programs. */
const { PYTHON_BIN } = process.env;
const AGENTS = PYTHON_BIN === undefined ? process.execPath : join(PYTHON_BIN, 'python');
const AGENTS_MAIN = join(
  import.meta.dirname,
  '../support',
  PYTHON_BIN === undefined ? 'model-agent-main.ts' : 'model_agent_main.py',
);
const STORE_MAIN = join(import.meta.dirname, '../../local/stack/history-main.ts');

/** Agents, gateway, Restate and history store as processes with data on disk, each of which may be killed and restored. */
export class TurnWorld {
  client!: AgentGateway;
  /** What the agents printed, in all their lives. */
  readonly said: string[] = [];
  private folder!: Folder;
  private ports!: Record<'store' | 'gateway' | 'agents', number>;
  private restate!: RunningRestate;
  private gateway!: GatewayChild;
  private store!: RunningProcess;
  private agents!: RunningProcess;

  async start(): Promise<void> {
    this.folder = await newFolder();
    this.ports = await choosePorts({ store: 0, gateway: 0, agents: 0 });
    this.restate = await startRestate({ dataDir: join(this.folder.path, 'restate') });
    for (const part of ['store', 'gateway', 'agents'] as const) await this.begin(part);
    const url = `http://127.0.0.1:${this.ports.gateway}`;
    this.client = new AgentGateway({ url, apiKey: API_KEY });
    await this.register();
  }

  async stop(): Promise<void> {
    for (const part of PARTS) await this.kill(part);
    await this.folder.stop();
  }

  /** The id of the deployment at this address, which defaults to that of the agents. */
  async register(port = this.ports.agents): Promise<string> {
    return (await this.client.deployments.register(`http://127.0.0.1:${port}`)).id;
  }

  /** Ends a part as a crash does. */
  async kill(part: Part): Promise<void> {
    await { agents: this.agents, store: this.store, restate: this.restate, gateway: this.gateway }[
      part
    ].kill();
  }

  /** Starts a part with what it had on disk. */
  async begin(part: Part): Promise<void> {
    if (part === 'restate') await this.restate.restart();
    else if (part === 'store') await this.startStore();
    else if (part === 'gateway') await this.startGateway();
    else await this.startAgents({});
  }

  /** Starts the agents, at another port and as another version where these are given. */
  async startAgents({ port = this.ports.agents, version = '' }): Promise<void> {
    this.agents = startProcess({
      name: 'agents',
      command: AGENTS,
      args: [AGENTS_MAIN],
      env: {
        PATH: process.env.PATH,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        AGENT_TYPE: TYPE,
        GATEWAY_URL: `http://127.0.0.1:${this.ports.gateway}`,
        GATEWAY_API_KEY: API_KEY,
        PORT: String(port),
        VERSION: version,
      },
      onLine: (line) => this.said.push(line),
    });
    await this.agents.waitForLine((line) => line.startsWith('listening on '));
  }

  /** Keeps the data of a part as they are now, or brings them back. It must not run. */
  async copy(part: 'restate' | 'store', direction: 'keep' | 'bring back'): Promise<void> {
    const data = join(this.folder.path, part);
    const kept = join(this.folder.path, `${part}-kept`);
    const [from, to] = direction === 'keep' ? [data, kept] : [kept, data];
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  }

  /** Resolves once Restate has nothing more to do for an agent, also no watcher, which the library's list leaves out. */
  async untilIdle(id: string): Promise<void> {
    const query = `SELECT id FROM sys_invocation WHERE status <> 'completed' AND (target_service_key = '${id}' OR starts_with(invoked_by_target, '${TYPE}/${id}/'))`;
    await until(`no invocation of ${id} is open`, async () => {
      const response = await fetch(`${this.restate.adminUrl}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await response.json()) as { rows: unknown[] };
      return rows.length === 0;
    });
  }

  send(id: string, message: unknown, idempotencyKey?: string) {
    return this.client.agents.send(`${TYPE}/${id}`, message, {
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  }

  /** The timeline until an event matches. */
  async readUntil(
    id: string,
    isLast: (event: TurnEvent) => boolean,
    onEvent: (event: TurnEvent) => Promise<void> | void = () => {},
  ): Promise<TurnEvent[]> {
    const events: TurnEvent[] = [];
    for await (const event of this.client.timeline<TurnEvent>(`${TYPE}/${id}`)) {
      events.push(event);
      await onEvent(event);
      if (isLast(event)) break;
    }
    return events;
  }

  decide(id: string, call: unknown, approved = true) {
    return this.send(id, { kind: 'decision', call, approved, by: 'ada' }, `decide ${String(call)}`);
  }

  private async startStore(): Promise<void> {
    this.store = startProcess({
      name: 'store',
      command: process.execPath,
      args: [STORE_MAIN],
      env: {
        PATH: process.env.PATH,
        HISTORY_PORT: String(this.ports.store),
        HISTORY_DATA: join(this.folder.path, 'store'),
      },
    });
    await this.store.waitForLine((line) => line.startsWith('listening on '));
  }

  private async startGateway(): Promise<void> {
    this.gateway = await startGatewayChild({
      env: {
        GATEWAY_PORT: String(this.ports.gateway),
        GATEWAY_RUNTIME_API: 'restate',
        GATEWAY_RUNTIME_INGRESS_URL: this.restate.ingressUrl,
        GATEWAY_RUNTIME_ADMIN_URL: this.restate.adminUrl,
        GATEWAY_HISTORY_URL: `http://127.0.0.1:${this.ports.store}/v1/stream`,
      },
    });
  }
}
