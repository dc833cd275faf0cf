import { object, serde } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { EntityRow } from '../entity-row.ts';
import { describe, request } from './gateway-client.ts';
import { retryForever } from './retry-forever.ts';
import { traceOf } from './trace.ts';

const DEFAULT_NAME = 'catalogRow';

/** Sends the row to its writer and does not wait. Rows of one entity arrive in the order of sending. */
export function sendRow(ctx: ObjectContext, row: EntityRow, service = DEFAULT_NAME): void {
  ctx.genericSend({
    service,
    method: 'put',
    key: row.url,
    parameter: row,
    inputSerde: serde.json,
    headers: traceOf(ctx),
  });
}

/** Has the row of an agent deleted, after those that were sent before. */
export function sendRowRemoval(ctx: ObjectContext, url: string, service = DEFAULT_NAME): void {
  ctx.genericSend({
    service,
    method: 'remove',
    key: url,
    parameter: url,
    inputSerde: serde.json,
    headers: traceOf(ctx),
  });
}

/**
 * Writes rows on behalf of the agents. It is a virtual object of its own, keyed by the entity, so
 * that a catalog that is down delays rows but never a reply. The token, if there is one, is sent as `Authorization: Bearer …`.
 */
export function catalogRowWriter(catalogUrl: string, name = DEFAULT_NAME, token?: string) {
  const credential: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return object({
    name,
    options: { retryPolicy: retryForever, ingressPrivate: true, journalRetention: 0 },
    handlers: {
      put: async (ctx: ObjectContext, row: EntityRow) => {
        const { attemptCompletedSignal } = ctx.request();
        const refusal = await ctx.run('put row', () =>
          putRow(catalogUrl, row, { ...traceOf(ctx), ...credential }, attemptCompletedSignal),
        );
        // A refused row is dropped, because it is only a copy: the entity continues, and its next row may be valid.
        if (refusal !== null) ctx.console.error(`row of ${row.url} refused: ${refusal}`);
      },
      remove: async (ctx: ObjectContext, url: string) => {
        const { attemptCompletedSignal } = ctx.request();
        const refusal = await ctx.run('delete row', async () => {
          const init = { method: 'DELETE', headers: { ...traceOf(ctx), ...credential } };
          const address = `${catalogUrl}/rows/entities?url=${encodeURIComponent(url)}`;
          const answer = await request(address, init, attemptCompletedSignal);
          return answer.status >= 300 && answer.status !== 404 ? describe(answer) : null;
        });
        if (refusal !== null) ctx.console.error(`row of ${url} not deleted: ${refusal}`);
      },
    },
  });
}

async function putRow(
  catalogUrl: string,
  row: EntityRow,
  headers: Record<string, string>,
  attemptEnded: AbortSignal,
): Promise<string | null> {
  const init = {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(row),
  };
  const answer = await request(`${catalogUrl}/rows/entities`, init, attemptEnded);
  return answer.status >= 300 ? describe(answer) : null;
}
