import {
  APIError,
  type AgentFailure,
  type AgentGateway,
  type EntityRow,
  type FailuresOptions,
} from '../../../client/src/index.ts';
import { SingleAttempt } from '../connection/single-attempt.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';

const ROWS_MS = 2_000;

/** What fails. It is undefined where the key does not open the registry, or Restate's admin API does not answer. */
export async function failingAgents(
  gateway: AgentGateway,
  signal: AbortSignal,
): Promise<AgentFailure[] | undefined> {
  try {
    return await failuresWithRows(gateway, { retryForMs: 0, signal });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    return undefined;
  }
}

/** The same, also of agents of which only the row says so. Rejects with an `APIError` where Restate's admin API does not answer. */
export async function failuresWithRows(
  gateway: AgentGateway,
  options: FailuresOptions,
): Promise<AgentFailure[]> {
  const rows = await rowsThatFail(gateway, options.signal);
  return gateway.invocations.failures({ ...options, rows });
}

/** None where the key does not open the catalog, or the sync engine does not answer: rows say little that Restate does not know. */
async function rowsThatFail(
  gateway: AgentGateway,
  signal: AbortSignal | undefined,
): Promise<readonly EntityRow[]> {
  const inTime = AbortSignal.timeout(ROWS_MS);
  const attempt = new SingleAttempt(signal ? AbortSignal.any([signal, inTime]) : inTime);
  const query = { where: 'status = $1 OR status = $2', params: ['failing', 'failed'] };
  try {
    const catalog = gateway.catalog({ ...query, live: false, ...attempt.options });
    for await (const rows of catalog) return rows;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
  }
  return [];
}

/** Why an agent fails, such as `assistant/ada fails since 2026-11-21 16:02:11, 4 tries: no model. Next try …`. */
export function failureText(failure: AgentFailure): string {
  const { agent, state, since, tries, reason, nextTryAt } = failure;
  const [line = ''] = reason.split('\n');
  const nextTry = nextTryAt === undefined ? '' : ` Next try ${localTime(nextTryAt) ?? nextTryAt}.`;
  const next = state === 'paused' ? ' Restate has paused it.' : nextTry;
  const time = localTime(since) ?? since;
  const what = state === 'failed' ? `failed for good at ${time}` : `fails since ${time}`;
  const often = tries > 0 ? `, ${tries} tries` : '';
  return plainLine(`${agent} ${what}${often}: ${line.replace(/\.$/, '')}.${next}`);
}
