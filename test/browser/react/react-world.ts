import type { Page } from 'playwright-core';
import { startCatalog } from '../../../local/catalog/catalog-server.ts';
import { AgentGateway } from '../../../packages/client/src/index.ts';
import { chatBackEnd } from '../../../packages/client/src/server/index.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../../support/credentials.ts';
import { startGatewayChild } from '../../support/gateway-child.ts';
import { startHistory } from '../../support/history.ts';
import { answer } from '../../support/node-adapter.ts';
import { startScriptedUpstream, type SeenRequest } from '../../support/scripted-upstream.ts';
import { startPage } from './page-files.ts';

export interface ReactWorld {
  gatewayUrl: string;
  pageUrl: string;
  /** Stands for Restate: the status of its answers. 202 takes the command. */
  runtimeStatus: number;
  /** The commands that arrived at it. */
  commands: SeenRequest[];
  /** How many read tokens the back end was asked for. */
  tokens: number;
  /** Resolves with the next command. It is answered when the returned function is called. */
  holdNext(): Promise<() => void>;
  /** Creates the timeline of an agent. Its events are appended by the returned function, which numbers them. */
  newAgent(id: string): Promise<(events: object[]) => Promise<void>>;
  /** Ends the gateway, and starts another one at its address. */
  restartGateway(): Promise<void>;
  stop(): Promise<void>;
}

interface ReactWorldOptions {
  /** The ids of the user's agents. */
  agents: string[];
  /** The lifetime of read tokens. */
  ttlSeconds?: number;
}

export const text = (value: string): object[] => [{ type: 'text', text: value }];

/** Waits until the items below `selector` show this, and `condition` holds in the page. */
export async function untilItems(
  page: Page,
  selector: string,
  wanted: string[],
  condition = 'true',
): Promise<void> {
  const shown = `JSON.stringify([...document.querySelectorAll('${selector}')].map((each) => each.dataset.state + ': ' + each.textContent)) === ${JSON.stringify(JSON.stringify(wanted))}`;
  const body = `${shown} && ${condition}`;
  await page.waitForFunction(body, undefined, { polling: 20 }).catch(async (cause: unknown) => {
    throw new Error(await page.innerHTML('#root'), { cause });
  });
}

/** A page with its back end, a gateway, a real store, and the test in place of the agents. */
export async function startReactWorld(
  files: ReadonlyMap<string, string>,
  { agents, ttlSeconds = 300 }: ReactWorldOptions,
): Promise<ReactWorld> {
  const history = await startHistory();
  const catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
  let held: ((release: () => void) => void) | undefined;
  const runtime = await startScriptedUpstream((_, response) => {
    const send = (): void => {
      response.writeHead(world.runtimeStatus, { 'content-type': 'application/json' });
      response.end('{"invocationId":"inv_1","status":"Accepted","message":"no"}');
    };
    if (held) held(send);
    else send();
    held = undefined;
  });
  const env = {
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
  };
  let gateway = await startGatewayChild({ env });
  const chat = chatBackEnd({
    gateway: new AgentGateway({ url: gateway.url, apiKey: API_KEY }),
    readTokenSecret: READ_TOKEN_SECRET,
    requestsPerMinute: 10_000,
    tokensPerMinute: 10_000,
    ttlSeconds,
    authorize: () => ({
      subject: 'ada',
      owns: (agent) => agents.some((id) => agent === `chat/${id}`),
      catalog: { table: 'entities', columns: ['url', 'status'] },
    }),
  });
  const page = await startPage(files, (incoming, outgoing) => {
    if (incoming.url === '/chat/token') world.tokens += 1;
    answer(chat, incoming, outgoing).catch(() => outgoing.writeHead(400).end());
  });
  const world: ReactWorld = {
    gatewayUrl: gateway.url,
    pageUrl: `${page.url}/`,
    runtimeStatus: 202,
    commands: runtime.seen,
    tokens: 0,
    holdNext: () => new Promise((resolve) => (held = resolve)),
    newAgent: async (id) => {
      const url = `${history.url}/t/default/agents/chat/${id}/timeline`;
      const headers = { 'content-type': 'application/json' };
      await fetch(url, { method: 'PUT', headers });
      let seq = 0;
      return async (events) => {
        const at = '2026-01-01T00:00:00.000Z';
        const body = JSON.stringify(events.map((event) => ({ seq: seq++, at, ...event })));
        const { ok, status } = await fetch(url, { method: 'POST', headers, body });
        if (!ok) throw new Error(`The store answered ${status}.`);
      };
    },
    restartGateway: async () => {
      await gateway.stop();
      gateway = await startGatewayChild({ env: { ...env, GATEWAY_PORT: String(gateway.port) } });
    },
    stop: async () => {
      for (const each of [page, gateway, runtime, catalog, history]) await each.stop();
    },
  };
  return world;
}
