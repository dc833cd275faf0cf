import { expect } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { API_KEY, AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { restateUrls } from '../support/restate.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

export interface TimelineEvent {
  seq: number;
  at: string;
  kind: string;
  [name: string]: unknown;
}

/** A program that serves agents, and prints where it listens. */
export interface AgentProgram {
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
    this.catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
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
    });
  }

  /** Starts the process, where it ran before unless another port is given. */
  async startAgents(port = new URL(this.agentsUrl).port): Promise<void> {
    const { main, env, listens } = this.program;
    this.agents = startProcess({
      name: 'agents',
      command: process.execPath,
      args: [main],
      env: {
        PATH: process.env.PATH,
        GATEWAY_URL: this.front.url,
        GATEWAY_API_KEY: API_KEY,
        CATALOG_URL: this.catalog.url,
        [this.program.port]: port,
        ...env,
      },
      onLine: (line) => this.said.push(line),
    });
    const line = await this.agents.waitForLine((text) => text.startsWith(listens));
    this.agentsUrl = line.slice(listens.length);
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
      const init = { method: req.method, headers: headers as Record<string, string> };
      const answer = await fetch(
        this.gateway.url + req.url,
        body.length > 0 ? { ...init, body: new Uint8Array(body) } : init,
      );
      const text = await answer.text();
      await this.beforeAnswer(req, body.toString());
      const producer = [...answer.headers].filter(([name]) => name.startsWith('producer-'));
      res.writeHead(answer.status, Object.fromEntries(producer)).end(text);
    } catch {
      res.destroy();
    }
  }
}

export const isKind = (kind: string) => (event: TimelineEvent) => event.kind === kind;
export const isReplyTo = (seq: number) => (event: TimelineEvent) =>
  event.kind === 'reply' && event.replyTo === seq;

export const text = (words: string) => [{ type: 'text', text: words }];

/** Removes the parts that differ from run to run. */
export function told(events: TimelineEvent[]): unknown[] {
  return events.map(({ seq: _seq, at: _at, ...event }) => event);
}

/** The text that the pieces of a reply make, whose numbers have no gap. */
export function wordsOf(events: TimelineEvent[], replyTo: number): string {
  const words = events.filter((event) => event.kind === 'word' && event.replyTo === replyTo);
  expect(words.map(({ index }) => index)).toEqual(words.map((_, index) => index));
  return words.map((event) => event.text).join('');
}
