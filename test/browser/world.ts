import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline, type EventWriter } from '../support/numbered-events.ts';
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
  stop(): Promise<void>;
}

export interface Timeline {
  /** What a read token for the agent covers. */
  prefix: string;
  url: string;
  writer: EventWriter;
}

export async function startWorld(): Promise<World> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const pages = await startPageServer();
    stops.push(() => pages.stop());
    const history = await startHistory();
    stops.push(() => history.stop());
    const historyProxy = await startCuttingProxy(history.url);
    stops.push(() => historyProxy.stop());
    const catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
    stops.push(() => catalog.stop());
    const runtime = await startScriptedUpstream((_, response) => {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end('{"invocationId":"inv_1","status":"Accepted"}');
    });
    stops.push(() => runtime.stop());
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: historyProxy.url,
        GATEWAY_SYNC_URL: catalog.url,
        GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
        GATEWAY_RUNTIME_ADMIN_URL: runtime.url,
        GATEWAY_CORS_ALLOW_ORIGINS: pages.origin,
      },
    });
    stops.push(() => gateway.stop());

    let timelines = 0;
    return {
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
      putAgent: async (id, status) => {
        const url = `/t/default/a/chat/${id}`;
        await putEntity(catalog, entity(id, { url, type: 'chat', status, tenant: 'default' }));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
