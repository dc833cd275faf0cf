import { describe, expect, it } from '@jest/globals';
import { AgentGateway, type EntityRow, type LiveState } from '../../packages/client/src/index.ts';
import { mintReadToken } from '../../packages/client/src/tokens.ts';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { forAllTests } from '../support/for-this-test.ts';

const catalog = forAllTests(() =>
  startCatalog({ port: 0, databasePath: ':memory:', longPollTimeoutMs: 500 }),
);
const gateway = forAllTests(() => startTestGateway({ GATEWAY_SYNC_URL: catalog.url }));
const link = forAllTests(() => startFlakyLink(gateway.port));

const mint = (ttlSeconds: number, prefix = '/shapes/v1/shape') =>
  mintReadToken({ secret: READ_TOKEN_SECRET, prefix, ttlSeconds });
const row = (id: string, type: string, status: string) =>
  entity(id, { url: `/t/default/a/${type}/${id}`, tenant: 'default', type, status });
const statuses = (rows: readonly EntityRow[]): string[] =>
  rows.map(({ id, status }) => `${id} ${status}`).sort();

describe('the catalog of the client', () => {
  it('has the rows as they are, whatever is cut, down or expired', async () => {
    const reader = new AgentGateway({ url: link.url, authCallback: () => mint(1) });
    const states = new Set<string>();
    let isReading = true;
    let written = 0;
    const newest = new Map<string, string>();
    const disturbing = (async () => {
      // On a busy machine every request would be cut for ever.
      for (let turn = 0; isReading && turn < 600; turn++) {
        if (written < 60) {
          written += 1;
          const [id, status] = [`f${written % 7}`, `s${written}`];
          newest.set(id, status);
          await putEntity(catalog, row(id, 'faults', status));
        }
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60));
        if (turn % 3 === 0) link.cut();
        if (turn % 8 === 0) link.goDown();
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
        link.resume();
      }
    })();
    const rows = reader.catalog({
      where: 'type = $1',
      params: ['faults'],
      onState: ({ name }) => states.add(name),
    });
    for await (const now of rows) {
      const wanted = [...newest].map(([id, status]) => `${id} ${status}`).sort();
      if (written === 60 && statuses(now).join() === wanted.join()) break;
    }
    isReading = false;
    await disturbing;
    expect([...states].sort()).toEqual(['connecting', 'live', 'waiting']);
  });

  it('gives a slow consumer the newest rows, and ends without an error when its signal aborts', async () => {
    const controller = new AbortController();
    const reader = new AgentGateway({ url: link.url, apiKey: API_KEY });
    await putEntity(catalog, row('n1', 'newest', 'first'));
    const seen: string[][] = [];
    const options = { where: "type = 'newest'", signal: controller.signal };
    await reader.catalog(options).subscribe(async (rows) => {
      seen.push(statuses(rows));
      if (seen.length > 1) return controller.abort();
      for (const status of ['second', 'third']) {
        await putEntity(catalog, row('n1', 'newest', status));
      }
    });
    expect(seen[0]).toEqual(['n1 first']);
    expect(['n1 second', 'n1 third']).toContain(seen.at(-1)?.[0]);
    await reader.catalog({ signal: controller.signal }).subscribe(() => seen.push([]));
    expect(seen).toHaveLength(2);
  });

  it.each([
    ['a token for something else', { prefix: '/streams' }, {}, 403, 'prefix_not_covered'],
    ['a clause that no token may send', {}, { where: 'type = (select 1)' }, 400, 'invalid_where'],
    ['a table that is not served', {}, { table: 'secrets' }, 403, 'table_not_allowed'],
  ])('throws for %s', async (_, { prefix }: { prefix?: string }, options, status, code) => {
    const reader = new AgentGateway({ url: link.url, authCallback: () => mint(60, prefix) });
    await expect(reader.catalog(options).subscribe(() => undefined)).rejects.toMatchObject({
      name: 'APIError',
      status,
      code,
    });
  });

  it('says what it waits for', async () => {
    const controller = new AbortController();
    const seen: LiveState[] = [];
    const nobody = new AgentGateway({ url: 'http://127.0.0.1:2', apiKey: API_KEY });
    await nobody
      .catalog({
        signal: controller.signal,
        onState: (state) => {
          seen.push(state);
          if (state.name === 'waiting') controller.abort();
        },
      })
      .subscribe(() => undefined);
    expect(seen).toMatchObject([
      { name: 'connecting' },
      { name: 'waiting', error: { code: 'connection_failed' } },
    ]);
  });
});
