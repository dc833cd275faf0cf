import { CliError } from '../cli-error.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import type { Connection } from './connection.ts';
import { plainLine } from '../output/plain-text.ts';

/** An answer that is no success: a problem of the gateway's own, or what a server behind it said. */
export interface Refusal {
  status: number;
  /** The gateway's stable code; a server behind it has none. */
  code: string | undefined;
  detail: string;
  requestId: string | undefined;
  retryAfterMs: number;
}

/** As `fetch` has it, and as the clients' errors do. */
export interface RefusedAnswer {
  status: number;
  headers: Headers | Record<string, string>;
  text: string;
}

const MAX_DETAIL_LENGTH = 500;

const HINTS: Record<string, string> = {
  missing_credentials:
    'Give an API key or a read token: --key-file, AGENT_GATEWAY_KEY or a profile.',
  read_only_token: 'A read token opens tail, ls and watch; commands need an API key.',
  entity_type_not_registered: 'The types that are registered: agent-gateway doctor',
  tenant_not_served: 'Name the tenant of this gateway with --tenant, or leave it out.',
};

export function refusalOf({ status, headers, text }: RefusedAnswer): Refusal {
  const get = (name: string): string | undefined =>
    (headers instanceof Headers ? headers.get(name) : headers[name]) ?? undefined;
  const body = parse(text);
  const isProblem = typeof body.code === 'string' && typeof body.detail === 'string';
  return {
    status,
    code: isProblem ? String(body.code) : undefined,
    detail: isProblem ? String(body.detail) : (upstreamMessage(body) ?? text.trim()),
    requestId: isProblem ? String(body.requestId) : get('x-request-id'),
    retryAfterMs: Math.max(0, Number(get('retry-after') ?? 0) || 0) * 1_000,
  };
}

/** `404 tenant_not_served. The detail. (request 01K…)`, safe to print. */
export function refusalInWords({ status, code, detail, requestId }: Refusal): string {
  const said = plainLine(detail).slice(0, MAX_DETAIL_LENGTH);
  const head = code === undefined ? `${status} from behind the gateway` : `${status} ${code}`;
  const request = requestId === undefined ? '' : ` (request ${plainLine(requestId)})`;
  return `${plainLine(head)}. ${said === '' ? 'It said nothing more.' : said}${request}`;
}

/** The error to end with. `credential` is the one that was sent. */
export function refusalError(
  refusal: Refusal,
  { credential }: Pick<Connection, 'credential'>,
  hint?: string,
): CliError {
  const { status, code } = refusal;
  const ofKey =
    code === 'invalid_credentials' && credential
      ? `The key came from ${credential.from}.`
      : undefined;
  const ofCode = code === undefined ? undefined : HINTS[code];
  return new CliError(exitCodeOf(status), refusalInWords(refusal), hint ?? ofKey ?? ofCode);
}

/** An answer that no gateway gives: something else is at the address. */
export function notAGateway(url: string, what: string): CliError {
  return new CliError(
    EXIT.unreachable,
    `What answers at ${url} does not seem to be an agent gateway: ${what}.`,
  );
}

/** What Restate and Electric call it. */
function upstreamMessage(body: Record<string, unknown>): string | undefined {
  const { message, errors } = body;
  if (typeof message !== 'string') return undefined;
  return errors === undefined ? message : `${message}: ${JSON.stringify(errors)}`;
}

function parse(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
