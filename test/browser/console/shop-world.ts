import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { putEntity } from '../../../local/catalog/catalog-fixture.ts';
import { serveAgents } from '../../support/restate.ts';
import type { ConsoleWorld } from './console-page.ts';
import { shopAgents } from './shop.ts';

export interface Shop {
  /** Sends a message to `shop/<id>`, which is spawned by it. */
  say(id: string, text: string): Promise<void>;
  /** Writes rows of agents that do nothing. */
  addRows(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Registers the scripted shop with the system of the console. */
export async function openShop({ local, gateway, dataDir }: ConsoleWorld): Promise<Shop> {
  const catalogUrl = local.printed(/listening on (http\S+), rows in/);
  const settings = await readFile(join(dataDir, 'settings.json'), 'utf8');
  const { catalogSecret } = JSON.parse(settings) as { catalogSecret: string };
  const agents = shopAgents({
    gatewayUrl: local.baseUrl,
    apiKey: local.apiKey,
    catalogUrl,
    catalogToken: catalogSecret,
  });
  const served = await serveAgents(agents.flatMap(({ services }) => services));
  const { id } = await gateway.deployments.register(served.uri);
  return {
    say: async (agent, text) => {
      await gateway.agents.spawn({ type: 'shop', id: agent });
      const content = [{ type: 'text', text }];
      await gateway.agents.send(`shop/${agent}`, { kind: 'message', content });
    },
    addRows: async (count) => {
      for (let index = 0; index < count; index++) {
        const row = idleRow(`session-${String(index).padStart(4, '0')}`, index);
        await putEntity({ url: catalogUrl, secret: catalogSecret }, row);
      }
    },
    stop: async () => {
      await gateway.deployments.remove(id, { force: true });
      await served.close();
    },
  };
}

function idleRow(id: string, index: number): Record<string, string | null> {
  const at = new Date(Date.now() - 86_400_000 - index * 60_000).toISOString();
  const type = ['concierge', 'researcher', 'reviewer'][index % 3] ?? '';
  const url = `/t/default/a/${type}/${id}`;
  const times = { created_at: at, updated_at: at };
  return { url, type, id, status: 'idle', parent: null, tenant: 'default', ...times };
}
