/** `npm run test:nodes -- --grow`: one node of Restate becomes three, by the steps of docs/clusters.md, under load. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { echoAgent } from '../../local/agents/echo-agent.ts';
import { HealthyWays } from '../../local/cluster/healthy-ways.ts';
import { openDoor } from '../../local/stack/door.ts';
import { startHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { restateSocket, startRestateNode } from '../../local/stack/restate.ts';
import { AgentGateway, APIError } from '../../packages/client/src/index.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { withParts, type Keep } from '../support/parts.ts';
import { serveAgents } from '../support/restate.ts';
import { until } from '../support/until.ts';

const RESTATECTL = '@restatedev/restatectl@1.7.12';
const CREDENTIAL = 'the-credential-of-the-doors';
const AGENTS = 10;
const MS_BETWEEN_MESSAGES = 200;
const run = promisify(execFile);

/** @returns whether every accepted message was answered once. */
export function grow(): Promise<boolean> {
  return withParts(async (keep) => {
    const folder = await mkdtemp(join(tmpdir(), 'grow-'));
    await keep({ stop: () => rm(folder, { recursive: true, force: true }) });
    const restatectl = await fetchRestatectl(join(folder, 'tools'));
    const ports = await choosePorts({ one: 0, two: 0, three: 0, gateway: 0 });
    const nodePorts = [ports.one, ports.two, ports.three];
    const options = { dataDir: join(folder, 'restate') };

    const first = await keep(
      startRestateNode(options, {
        name: 'restate-1',
        port: ports.one,
        ports: [ports.one],
        replication: 1,
      }),
    );
    const doors = await openDoors(keep, options.dataDir);
    const history = await keep(startHistory());
    await keep(
      startGatewayChild({
        env: {
          GATEWAY_PORT: String(ports.gateway),
          GATEWAY_RUNTIME_API: 'restate',
          GATEWAY_RUNTIME_INGRESS_URL: `http://127.0.0.1:${doors.ingress}`,
          GATEWAY_RUNTIME_INGRESS_TOKEN: CREDENTIAL,
          GATEWAY_RUNTIME_ADMIN_URL: `http://127.0.0.1:${doors.admin}`,
          GATEWAY_RUNTIME_ADMIN_TOKEN: CREDENTIAL,
          GATEWAY_HISTORY_URL: history.url,
        },
      }),
    );
    const gateway = new AgentGateway({
      url: `http://127.0.0.1:${ports.gateway}`,
      apiKey: API_KEY,
    });
    await serveEcho(keep, gateway, `http://127.0.0.1:${ports.gateway}`);
    const load = new Load(gateway);
    await keep({ stop: () => load.end() });
    await load.untilAnswered(20);
    console.log('one node: 20 messages answered');

    for (const number of [2, 3] as const) {
      const name = `restate-${number}`;
      const port = nodePorts[number - 1]!;
      await keep(startRestateNode(options, { name, port, ports: nodePorts }));
    }
    const address = `--address=http://127.0.0.1:${ports.one}`;
    const ctl = async (...args: string[]): Promise<string> =>
      (await run(restatectl, [...args, address])).stdout;
    await ctl('config', 'set', '--replication', '2', '--yes');
    await until('each partition to be on two nodes', async () => {
      const { length: copies } = (await ctl('partitions', 'list')).match(/Follower/gi) ?? [];
      return copies >= 4;
    });
    console.log('three nodes: each partition is on two');
    doors.useAll();
    await load.untilAnswered(20);

    await first.kill();
    console.log('the first node was killed');
    await load.untilAnswered(20);
    await load.end();
    return load.verdict();
  });
}

async function fetchRestatectl(folder: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  await run('npm', ['install', '--no-audit', '--no-fund', RESTATECTL], { cwd: folder });
  return join(folder, 'node_modules/.bin/restatectl');
}

/** Ports of which the gateway knows: first the first node is behind them, then all nodes. */
async function openDoors(keep: Keep, dataDir: string) {
  const waysOf = (listener: 'ingress' | 'admin', healthPath: string, names: readonly string[]) =>
    new HealthyWays(
      names.map((name) => ({
        way: { path: restateSocket(dataDir, listener, name) },
        healthPath,
      })),
    );
  const ofNodes = (names: readonly string[]) => ({
    ingress: waysOf('ingress', '/restate/health', names),
    admin: waysOf('admin', '/health', names),
  });
  let ways = ofNodes(['restate-1']);
  const stopWays = (): void => Object.values(ways).forEach((one) => one.stop());
  await keep({ stop: stopWays });
  const ports = await choosePorts({ ingress: 0, admin: 0 });
  const ingress = await openDoor(ports.ingress, () => ways.ingress.next(), CREDENTIAL);
  await keep({ stop: () => ingress.close() });
  const admin = await openDoor(ports.admin, () => ways.admin.next(), CREDENTIAL);
  await keep({ stop: () => admin.close() });
  const useAll = (): void => {
    stopWays();
    ways = ofNodes(['restate-1', 'restate-2', 'restate-3']);
  };
  return { ingress: ingress.port, admin: admin.port, useAll };
}

async function serveEcho(keep: Keep, gateway: AgentGateway, gatewayUrl: string): Promise<void> {
  const { uri, close } = await serveAgents([echoAgent({ gatewayUrl, apiKey: API_KEY })]);
  await keep({ stop: close });
  await gateway.deployments.register(uri);
}

/** A message with a key every 200 ms, each to the next of ten agents. */
class Load {
  readonly #gateway: AgentGateway;
  readonly #accepted: { agent: string; text: string }[] = [];
  readonly #refused: unknown[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  constructor(gateway: AgentGateway) {
    this.#gateway = gateway;
    this.#timer = setInterval(() => this.#send(), MS_BETWEEN_MESSAGES);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  /** Until so many of the messages that are sent from now on are answered. */
  async untilAnswered(count: number): Promise<void> {
    const first = this.#count;
    const wanted = Array.from({ length: count }, (_, index) => `message ${first + index}`);
    await until(`${count} messages to be answered`, async () => {
      const answered = (await this.#timelines()).flatMap((events) => [...answersIn(events).keys()]);
      return wanted.every((text) => answered.includes(text));
    });
  }

  async verdict(): Promise<boolean> {
    const answers = new Map<string, number>();
    await until('every accepted message to be answered', async () => {
      answers.clear();
      for (const events of await this.#timelines())
        for (const [text, times] of answersIn(events)) answers.set(text, times);
      return this.#accepted.every(({ text }) => answers.has(text));
    });
    const twice = [...answers].filter(([, times]) => times > 1);
    console.log(
      `${this.#accepted.length} accepted, ${this.#refused.length} not; all answered, ${twice.length} more than once`,
    );
    return twice.length === 0 && this.#refused.length === 0;
  }

  #send(): void {
    const text = `message ${this.#count}`;
    const agent = `echo/e${this.#count++ % AGENTS}`;
    const sent = this.#gateway.agents
      .send(agent, { kind: 'message', content: [{ type: 'text', text }] }, { retryForMs: 60_000 })
      .then(
        () => void this.#accepted.push({ agent, text }),
        (error: unknown) => void this.#refused.push(error),
      )
      .finally(() => this.#open.delete(sent));
    this.#open.add(sent);
  }

  #timelines(): Promise<Event[][]> {
    const agents = Array.from({ length: AGENTS }, (_, index) => `echo/e${index}`);
    return Promise.all(agents.map((agent) => this.#timeline(agent)));
  }

  async #timeline(agent: string): Promise<Event[]> {
    const events: Event[] = [];
    const options = { live: false, waitForStream: false } as const;
    try {
      for await (const event of this.#gateway.timeline(agent, options)) events.push(event as Event);
    } catch (error) {
      // It has written nothing yet.
      if (!(error instanceof APIError && error.status === 404)) throw error;
    }
    return events;
  }
}

interface Event {
  kind: string;
  seq: number;
  replyTo?: number;
  content?: { text?: string }[];
}

/** How often each message was answered, by its text. */
function answersIn(events: readonly Event[]): Map<string, number> {
  const texts = new Map(
    events.filter(({ kind }) => kind === 'message').map(({ seq, content }) => [seq, content]),
  );
  const answers = new Map<string, number>();
  for (const { kind, replyTo } of events) {
    const text = texts.get(replyTo ?? -1)?.[0]?.text;
    if (kind === 'reply' && text !== undefined) answers.set(text, (answers.get(text) ?? 0) + 1);
  }
  return answers;
}
