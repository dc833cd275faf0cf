import {
  agentsNow,
  APIError,
  type AgentFailure,
  type AgentGateway,
  type EntityRow,
} from '@agent-gateway/client';

const TIMEOUT_MS = 20_000;

export interface ListRequest {
  type?: string | undefined;
  status?: string | undefined;
  limit: number;
}

/** An agent as it is now. */
export type ListedAgent = EntityRow & {
  failure?: { since: string; tries: number; reason: string };
};

/**
 * The agents, those that changed last first. One that fails has the status `failing` or `failed` and says why, where the key opens
 * the registry. Rejects with an `APIError`.
 */
export async function listAgents(
  gateway: AgentGateway,
  { type, status, limit }: ListRequest,
  cancelled: AbortSignal,
): Promise<{ agents: ListedAgent[]; hasMore: boolean }> {
  const rows = await rowsOf(gateway, type, cancelled);
  const failures = (await failuresOf(gateway, rows, cancelled)).filter(
    ({ agent }) => type === undefined || agent.startsWith(`${type}/`),
  );
  const reasons = new Map(failures.map((failure) => [failure.agent, failure]));
  const found = agentsNow(rows, failures, gateway.tenant)
    .filter((row) => status === undefined || row.status === status)
    .toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
  const agents = found.slice(0, limit).map((row): ListedAgent => {
    const failure = reasons.get(`${row.type}/${row.id}`);
    if (failure === undefined) return row;
    const { since, tries } = failure;
    const [reason = ''] = failure.reason.split('\n');
    return Object.assign({ ...row }, { failure: { since, tries, reason } });
  });
  return { agents, hasMore: found.length > limit };
}

async function rowsOf(
  gateway: AgentGateway,
  type: string | undefined,
  cancelled: AbortSignal,
): Promise<readonly EntityRow[]> {
  let failure: APIError | undefined;
  const failed = new AbortController();
  const catalog = gateway.catalog({
    live: false,
    ...(type !== undefined && { where: 'type = $1', params: [type] }),
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
  return rows;
}

/** None where the key does not open the registry: the rows are all that is known then. */
async function failuresOf(
  { invocations }: AgentGateway,
  rows: readonly EntityRow[],
  signal: AbortSignal,
): Promise<AgentFailure[]> {
  try {
    return await invocations.failures({ rows, signal, retryForMs: 0, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (error instanceof APIError) return [];
    throw error;
  }
}
