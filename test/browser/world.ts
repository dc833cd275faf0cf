import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline, type EventWriter } from '../support/numbered-events.ts';
import { withParts } from '../support/parts.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { startPageServer, type PageServer } from './page-server.ts';

/** The servers that a page needs. */
export interface World {
  gatewayUrl: string;
  pages: PageServer;
  /** Between the gateway and the history store. */
  historyProxy: CuttingProxy;
  /** Stands for Restate's ingress and admin API: it only counts, and answers well. */
  runtime: ScriptedUpstream;
  newTimeline(count: number): Promise<Timeline>;
  putAgent(id: string, status: string): Promise<void>;
}

export interface Timeline {
  /** What a read token for the agent covers. */
  prefix: string;
  url: string;
  writer: EventWriter;
}

export function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  return withParts(async (keep) => {
    const pages = await keep(startPageServer());
    const history = await keep(startHistory());
    const historyProxy = await keep(startCuttingProxy(history.url));
    const catalog = await keep(startCatalog({ port: 0, databasePath: ':memory:' }));
    const runtime = await keep(
      startScriptedUpstream((_, response) => {
        response.writeHead(202, { 'content-type': 'application/json' }).end(ACCEPTED);
      }),
    );
    const gateway = await keep(
      startGatewayChild({
        env: {
          GATEWAY_HISTORY_URL: historyProxy.url,
          GATEWAY_SYNC_URL: catalog.url,
          GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
          GATEWAY_RUNTIME_ADMIN_URL: runtime.url,
          GATEWAY_CORS_ALLOW_ORIGINS: pages.origin,
        },
      }),
    );
    let timelines = 0;
    await work({
      gatewayUrl: gateway.url,
      pages,
      historyProxy,
      runtime,
      newTimeline: async (count) => {
        const id = `a${timelines++}`;
        const writer = await newTimeline(history.url, id, count);
        const prefix = `/streams/t/default/agents/chat/${id}`;
        return { prefix, url: `${gateway.url}${prefix}/timeline`, writer };
      },
      putAgent: (id, status) => putChat(catalog, id, status),
    });
  });
}

/** Writes the row of `chat/<id>`. */
export function putChat(catalog: { url: string }, id: string, status: string): Promise<void> {
  const url = `/t/default/a/chat/${id}`;
  return putEntity(catalog, entity(id, { url, type: 'chat', status, tenant: 'default' }));
}
