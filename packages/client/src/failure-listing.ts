import { entityOf, type Entity } from './address.ts';
import { failuresOf, type AgentFailure, type FailingRow, type StoredFailure } from './failures.ts';
import { INVOCATION_COLUMNS, invocationOf, quoted, textOf } from './invocation-row.ts';
import type { FailuresOptions, Invocation, ListInvocationsOptions } from './invocations.ts';
import type { RequestOptions } from './transport.ts';

type Row = Record<string, unknown>;
type Rows = (query: string) => Promise<Row[]>;

/** What failures are read with. Each rejects with an `APIError`. */
export interface FailureReads {
  rows: (query: string, options: RequestOptions) => Promise<Row[]>;
  list: (options: ListInvocationsOptions) => Promise<Invocation[]>;
}

const ENDED = "status = 'completed' AND target_handler_name IN ('spawn', 'wake', 'control')";
/** A 4xx is no fault of the agent: the command was wrong, the agent is forgotten, or somebody ended the invocation. */
const IS_FAULT = "completion_failure IS NOT NULL AND completion_failure NOT LIKE '[4__]%'";

/** The agents that fail, from all that says so; see `Invocations.failures`. */
export async function listFailures(
  { rows: ask, list }: FailureReads,
  { agent, rows = [], limit = 1_000, ...options }: FailuresOptions,
): Promise<AgentFailure[]> {
  const of = agent === undefined ? undefined : entityOf(agent);
  const read: Rows = (query) => ask(query, options);
  const saying = rows.filter(
    ({ type, id, status }) =>
      (status === 'failing' || status === 'failed') &&
      (of === undefined || (of.type === type && of.id === id)),
  );
  const [failing, states, failed, ofKit] = await Promise.all([
    list({ ...options, limit, isFailing: true, ...(agent !== undefined && { agent }) }),
    read(
      `SELECT service_name, service_key, value_utf8 FROM state WHERE key = 'failure'${ofOne('service', of)} LIMIT ${limit}`,
    ),
    read(
      `SELECT ${INVOCATION_COLUMNS}, target_service_key, completion_failure FROM sys_invocation WHERE ${ENDED} AND ${IS_FAULT}${ofOne('target_service', of)} ORDER BY created_at DESC LIMIT ${limit}`,
    ),
    agentsOfKit(read, saying),
  ]);
  const stored = new Map<string, StoredFailure>();
  for (const { service_name, service_key, value_utf8 } of states) {
    const failure = storedFailure(value_utf8);
    if (failure) stored.set(`${String(service_name)}/${String(service_key)}`, failure);
  }
  return failuresOf({
    failing,
    stored,
    failed: failed.map((row) => ({
      ...invocationOf(row),
      lastFailure: textOf(row.completion_failure),
    })),
    good: await goodCommands(read, failed),
    rows: saying.filter(({ type, id }) => !ofKit.has(`${type}/${id}`)),
  });
}

/** When the newest command of these agents went well, by `type/id/handler`. */
async function goodCommands(read: Rows, failed: readonly Row[]): Promise<Map<string, string>> {
  if (failed.length === 0) return new Map();
  const keys = new Set(failed.map(({ target_service_key: key }) => quoted(String(key))));
  const found = await read(
    `SELECT target, MAX(created_at) AS newest FROM sys_invocation WHERE ${ENDED} AND completion_failure IS NULL AND target_service_key IN (${[...keys].join(', ')}) GROUP BY target`,
  );
  return new Map(found.map(({ target, newest }) => [String(target), String(newest)]));
}

/** Those of these agents, as `type/id`, whose state is that of one made with `defineAgent`: their state says whether they fail. */
async function agentsOfKit(read: Rows, rows: readonly FailingRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const keys = new Set(rows.map(({ id }) => quoted(id)));
  const found = await read(
    `SELECT service_name, service_key FROM state WHERE key = 'entity' AND service_key IN (${[...keys].join(', ')})`,
  );
  return new Set(
    found.map(({ service_name, service_key }) => `${String(service_name)}/${String(service_key)}`),
  );
}

function ofOne(column: string, one: Pick<Entity, 'type' | 'id'> | undefined): string {
  return one === undefined
    ? ''
    : ` AND ${column}_name = '${one.type}' AND ${column}_key = '${one.id}'`;
}

/** Any agent may have a state of this name. */
function storedFailure(text: unknown): StoredFailure | undefined {
  try {
    const { since, tries, error, isFinal } = JSON.parse(String(text)) as Partial<StoredFailure>;
    if (typeof since !== 'string' || typeof error !== 'string') return undefined;
    return { since, tries: Number(tries ?? 1), error, isFinal: isFinal === true };
  } catch {
    return undefined;
  }
}
