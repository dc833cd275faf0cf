import { ELECTRIC_PROTOCOL_QUERY_PARAMS, ShapeStream } from '@electric-sql/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import '../../local/catalog/unref-client-timers.ts';
import { READ_TOKEN_SECRET } from '../support/gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';

const SHAPE = '/shapes/v1/shape';
const HEADERS = {
  'content-type': 'application/json',
  'electric-handle': 'h-1',
  'electric-offset': '0_0',
  'electric-schema': '{"id":{"type":"text"}}',
};
const SNAPSHOT = '{"metadata":{"snapshot_mark":1,"xmin":"1","xmax":"1","xip_list":[]},"data":[]}';

const { gateway, upstream: engine } = scriptedGateway((request, response) => {
  response.writeHead(200, HEADERS).end(request.url?.includes('subset__') ? SNAPSHOT : '[]');
});
let token: string;
beforeAll(async () => {
  token = await mintReadToken(READ_TOKEN_SECRET, { prefix: SHAPE, ttlSeconds: 60 });
});

const stops: AbortController[] = [];
afterAll(() => stops.forEach((stop) => stop.abort()));

/** The unmodified client with a read token. With `log: 'changes_only'` it sends no request by itself. */
function client(params: Record<string, unknown>): ShapeStream {
  const stop = new AbortController();
  stops.push(stop);
  return new ShapeStream({
    url: `${gateway.url}${SHAPE}`,
    params: { table: 'entities', ...params } as never,
    headers: { Authorization: `Bearer ${token}` },
    log: 'changes_only',
    signal: stop.signal,
    warnOnHttp: false,
  });
}

/** The last query that the engine received, without the clause of the fence. */
function lastAsked(): Record<string, string> {
  const query = new URLSearchParams(engine.seen.at(-1)?.target.split('?')[1]);
  return Object.fromEntries(query);
}

describe('the parameters of the Electric client', () => {
  it('pass in a subset, all that it sends', async () => {
    const stream = client({
      where: 'type = $1',
      params: ['chat'],
      columns: ['id', 'Created At'],
      replica: 'full',
    });

    await stream.fetchSnapshot({
      where: '"id" = ANY($1) AND status LIKE $2',
      params: { 1: '{a,b}', 2: 'i%' },
      orderBy: '"created_at" DESC NULLS LAST, id',
      limit: 10,
      offset: 5,
    });

    expect(lastAsked()).toEqual({
      table: 'entities',
      where: `("tenant" = 'default') AND ("type" = $1)`,
      'params[1]': 'chat',
      columns: '"id","Created At"',
      replica: 'full',
      log: 'changes_only',
      offset: '-1',
      subset__where: '("id" = ANY($1) AND "status" LIKE $2)',
      subset__params: '{"1":"{a,b}","2":"i%"}',
      subset__order_by: '"created_at" DESC NULLS LAST, "id"',
      subset__limit: '10',
      subset__offset: '5',
    });
  });

  it('are refused by name where they are not on the list', async () => {
    const structured = client({}).fetchSnapshot({
      whereExpr: { type: 'func', name: 'isNull', args: [{ type: 'ref', column: 'parent' }] },
    });
    await expect(structured).rejects.toMatchObject({ status: 400 });
    await expect(client({ mine: 'x' }).fetchSnapshot({ where: 'true' })).rejects.toMatchObject({
      status: 400,
      text: expect.stringContaining('mine'),
    });
  });

  it('are those that were looked at when the list was made', () => {
    // Whoever raises the client looks what a new one does, and lets it pass or not.
    expect(ELECTRIC_PROTOCOL_QUERY_PARAMS.toSorted()).toEqual([
      'cache-buster',
      'cursor',
      'experimental_live_sse',
      'expired_handle',
      'handle',
      'live',
      'live_sse',
      'log',
      'offset',
      'subset__limit',
      'subset__offset',
      'subset__order_by',
      'subset__order_by_expr',
      'subset__params',
      'subset__where',
      'subset__where_expr',
    ]);
  });
});
