import type { AgentGateway, APIError, EntityRow } from '@agent-gateway/client';

const TIMEOUT_MS = 20_000;

export interface ListRequest {
  type?: string | undefined;
  status?: string | undefined;
  limit: number;
}

/** The agents of the catalog, those that changed last first. Rejects with an `APIError`. */
export async function listAgents(
  gateway: AgentGateway,
  { type, status, limit }: ListRequest,
  cancelled: AbortSignal,
): Promise<{ agents: EntityRow[]; hasMore: boolean }> {
  const wanted = Object.entries({ type, status }).filter(([, value]) => value !== undefined);
  const where = wanted.map(([column], index) => `${column} = $${index + 1}`).join(' AND ');
  let failure: APIError | undefined;
  const failed = new AbortController();
  const catalog = gateway.catalog({
    live: false,
    ...(where !== '' && { where, params: wanted.map(([, value]) => value as string) }),
    signal: AbortSignal.any([cancelled, failed.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    // The library would try again without end.
    onState: (state) => {
      if (state.name !== 'waiting') return;
      failure = state.error;
      failed.abort();
    },
  });
  let rows: readonly EntityRow[] = [];
  for await (const read of catalog) rows = read;
  if (failure) throw failure;
  const newest = rows.toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
  return { agents: newest.slice(0, limit), hasMore: newest.length > limit };
}
