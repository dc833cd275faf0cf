import { expect } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { API_KEY, AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { restateUrls } from '../support/restate.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

const MODEL_AGENT = join(import.meta.dirname, '../support/model-agent-main.ts');
/** The same agent, made with the Python kit. */
const PYTHON_MODEL_AGENT = join(import.meta.dirname, '../support/model_agent_main.py');
/** `npm run test:python` has these tests run with that, from the folder of its programs. */
const { PYTHON_BIN } = process.env;
const CATALOG_SECRET = 'catalog-secret';

export interface TimelineEvent {
  seq: number;
  at: string;
  kind: string;
  [name: string]: unknown;
}

/** A program that serves agents, and prints where it listens. */
export interface AgentProgram {
  /** Default: Node. */
  command?: string;
  main: string;
  env: Record<string, string>;
  /** The name of the variable with its port. */
  port: string;
  /** What it prints before its address. */
  listens: string;
}

/** Agents in a process that a test may kill, before real servers. */
export class AgentWorld {
  gateway!: TestGateway;
  client!: AgentGateway;
  agents!: RunningProcess;
  /** What the process printed, in all its lives. */
  readonly said: string[] = [];
  /** Called with each request of the agents that the gateway has answered, before they get the answer. */
  beforeAnswer: (request: IncomingMessage, body: string) => unknown = () => undefined;
  /** Called with each request of the agents before the gateway gets it. */
  beforeRequest: (request: IncomingMessage, body: string) => unknown = () => undefined;
  readonly authorized = AUTHORIZED;
  private readonly program: AgentProgram;
  // In memory: the file-backed store may show new data before it moves its own offset, and a reader
  // then gets events twice (@durable-streams/server 0.3.7).
  private history!: RunningHistory;
  private catalog!: Catalog;
  private front!: ScriptedUpstream;
  private agentsUrl = '';
  private deploymentId = '';

  constructor(program: AgentProgram) {
    this.program = program;
  }

  async start(): Promise<void> {
    this.history = await startHistory({ longPollTimeoutMs: 1_000 });
    this.catalog = await startCatalog({
      port: 0,
      databasePath: ':memory:',
      secret: CATALOG_SECRET,
    });
    await this.startGateway(0);
    this.front = await startScriptedUpstream((req, res, body) => void this.passOn(req, res, body));
    this.client = new AgentGateway({ url: this.gateway.url, apiKey: API_KEY });
    await this.startAgents('0');
    this.deploymentId = (await this.client.deployments.register(this.agentsUrl)).id;
  }

  async stop(): Promise<void> {
    await this.client.deployments.remove(this.deploymentId, { force: true });
    await this.agents.kill();
    await this.front.stop();
    await this.gateway.stop();
    await this.catalog.stop();
    await this.history.stop();
  }

  async startGateway(port: number): Promise<void> {
    const { ingressUrl, adminUrl } = restateUrls();
    this.gateway = await startTestGateway({
      GATEWAY_PORT: String(port),
      GATEWAY_RUNTIME_INGRESS_URL: ingressUrl,
      GATEWAY_RUNTIME_ADMIN_URL: adminUrl,
      GATEWAY_HISTORY_URL: this.history.url,
      GATEWAY_SYNC_URL: this.catalog.url,
      GATEWAY_SYNC_SECRET: CATALOG_SECRET,
    });
  }

  /** Starts the process, where it ran before unless another port is given. */
  async startAgents(port = new URL(this.agentsUrl).port): Promise<void> {
    const { command = process.execPath, main, env, listens } = this.program;
    this.agents = startProcess({
      name: 'agents',
      command,
      args: [main],
      env: {
        PATH: process.env.PATH,
        GATEWAY_URL: this.front.url,
        GATEWAY_API_KEY: API_KEY,
        CATALOG_URL: this.catalog.url,
        CATALOG_TOKEN: CATALOG_SECRET,
        [this.program.port]: port,
        ...env,
      },
      onLine: (line) => this.said.push(line),
    });
    const line = await this.agents.waitForLine((text) => text.startsWith(listens));
    this.agentsUrl = line.slice(listens.length);
  }

  /** Resolves when the agents' process has written a line that begins so, also if it did before. */
  async hears(beginning: string): Promise<void> {
    await until(`the agents say "${beginning}"`, () =>
      this.said.some((line) => line.startsWith(beginning)),
    );
  }

  /** The timeline until an event matches, checked to have no gap. `onEvent` sees each event as it comes. */
  async readUntil(
    agent: string,
    isLast: (event: TimelineEvent) => boolean,
    onEvent: (event: TimelineEvent) => Promise<void> | void = () => {},
  ): Promise<TimelineEvent[]> {
    const events: TimelineEvent[] = [];
    for await (const event of this.client.timeline<TimelineEvent>(agent)) {
      events.push(event);
      await onEvent(event);
      if (isLast(event)) break;
    }
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    return events;
  }

  /** Follows an agent's row until it has had the status. Electric's client is not used: it leaves a timer of a minute. */
  async rowOf(agent: string, status: string): Promise<Record<string, unknown>> {
    const where = encodeURIComponent(`url = '/t/default/a/${agent}'`);
    let row: Record<string, unknown> = {};
    for (let position = 'offset=-1'; ;) {
      const url = `${this.gateway.url}/shapes/v1/shape?table=entities&where=${where}&${position}`;
      const response = await fetch(url, { headers: AUTHORIZED });
      expect(response.status).toBe(200);
      for (const { value } of (await response.json()) as { value?: object }[]) {
        row = { ...row, ...value };
        if (row.status === status) return row;
      }
      const { headers } = response;
      position = `handle=${headers.get('electric-handle')}&offset=${headers.get('electric-offset')}&live=true`;
    }
  }

  private async passOn(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
    const { host: _, connection: _hop, 'content-length': _length, ...headers } = req.headers;
    try {
      await this.beforeRequest(req, body.toString());
      const init = { method: req.method, headers: headers as Record<string, string> };
      const answer = await fetch(
        this.gateway.url + req.url,
        body.length > 0 ? { ...init, body: new Uint8Array(body) } : init,
      );
      const text = await answer.text();
      await this.beforeAnswer(req, body.toString());
      const own = [...answer.headers].filter(([name]) => /^(?:producer-|stream-|x-)/.test(name));
      res.writeHead(answer.status, Object.fromEntries(own)).end(text);
    } catch {
      res.destroy();
    }
  }
}

/** The agent with a scripted model, as an entity type of its own: the test files share one Restate. */
export function modelAgentWorld(type: string): AgentWorld {
  return new AgentWorld({
    ...(PYTHON_BIN === undefined
      ? { main: MODEL_AGENT }
      : { main: PYTHON_MODEL_AGENT, command: join(PYTHON_BIN, 'python') }),
    env: { AGENT_TYPE: type, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
    port: 'PORT',
    listens: 'listening on ',
  });
}

export const isKind = (kind: string) => (event: TimelineEvent) => event.kind === kind;
export const isReplyTo = (seq: number) => (event: TimelineEvent) =>
  event.kind === 'reply' && event.replyTo === seq;

export const text = (words: string) => [{ type: 'text', text: words }];

/** Removes the parts that differ from run to run: of the id of a call its number stays. */
export function told(events: TimelineEvent[]): unknown[] {
  return events.map(({ seq: _seq, at: _at, invocationId: _name, ...event }) =>
    typeof event.id === 'string' ? { ...event, id: event.id.replace(/^.*\./, '') } : event,
  );
}

/** The text that the pieces of a reply make, whose numbers have no gap. */
export function wordsOf(events: TimelineEvent[], replyTo: number): string {
  const words = events.filter((event) => event.kind === 'word' && event.replyTo === replyTo);
  expect(words.map(({ index }) => index)).toEqual(words.map((_, index) => index));
  return words.map((event) => event.text).join('');
}
