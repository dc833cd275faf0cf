import { EXIT } from '../exit-codes.ts';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import {
  GatewayError,
  isControlPlanePath,
  parsePathScope,
  parseShapeScope,
  scopeCovers,
  SHAPE_PATH,
} from './token-rules.ts';
import { TokenCommandError, tokenVerifier, type TokenSettings } from './token-settings.ts';

/**
 * Describes a read token line by line: its claims, and the verdict of a gateway with these settings. Throws
 * `TokenCommandError` if it is not a JWT.
 */
export async function explainReadToken(
  token: string,
  settings: TokenSettings,
  nowMs: number = Date.now(),
): Promise<string[]> {
  const { header, claims } = decodeReadToken(token);
  return [
    `A token for the tenant ${words(claims.aud)}${claims.sub === undefined ? '' : `, subject ${words(claims.sub)}`}.`,
    `Signed by ${words(header.alg)}${header.kid === undefined ? '' : ` with the key ${words(header.kid)}`}.`,
    'Opens GET and HEAD of:',
    ...[claims.prefix].flat().map((prefix) => `  ${prefixInWords(prefix)}`),
    ...shapeInWords(claims.shape),
    ...timesInWords(claims, nowMs),
    verdictInWords(await readTokenVerdict(token, settings), settings),
  ];
}

/** The unverified claims of a token. Throws `TokenCommandError` if it is not a JWT. */
export function decodeReadToken(token: string): {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
} {
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: { ...decodeJwt(token) } };
  } catch {
    throw new TokenCommandError(
      'This is no read token: one has three parts with dots between them, of which the first two are JSON in base64url.',
      EXIT.failed,
    );
  }
}

/** A claim as text that is safe on a terminal. */
function words(claim: unknown): string {
  const text = typeof claim === 'string' ? claim : (JSON.stringify(claim) ?? '(missing)');
  return text.replace(/\p{C}/gu, '?');
}

function prefixInWords(prefix: unknown): string {
  const scope = typeof prefix === 'string' ? parsePathScope([prefix]) : undefined;
  if (typeof prefix !== 'string' || !scope) {
    return `${words(prefix)} (no prefix of a read path, which makes the token invalid)`;
  }
  const shown = words(prefix).replace(/\/$/, '');
  if (isControlPlanePath(prefix)) return `${shown} (nothing: __ds is for API keys only)`;
  if (scope[0]?.[0] === 'streams') return `${shown} and all below it`;
  return scopeCovers(scope, SHAPE_PATH)
    ? SHAPE_PATH
    : `${shown} (nothing: under /shapes only ${SHAPE_PATH} is open)`;
}

function shapeInWords(claim: unknown): string[] {
  if (claim === undefined) return [];
  const shape = parseShapeScope(claim);
  if (!shape) return [`Its shape claim is not valid: ${words(claim)}`];
  const { table, where, params, columns } = shape;
  return [
    `Of shapes it opens the table ${words(table)} only` +
      (where === undefined ? '' : `, where ${words(where)}`) +
      (params === undefined ? '' : `, with the params ${words(params)}`) +
      (columns === undefined ? '' : `, the columns ${words(columns.join(', '))}`) +
      '.',
  ];
}

function timesInWords({ iat, nbf, exp }: Record<string, unknown>, nowMs: number): string[] {
  return [
    `Issued: ${timeInWords(iat, nowMs)}.`,
    ...(nbf === undefined ? [] : [`Not before: ${timeInWords(nbf, nowMs)}.`]),
    `Expires: ${timeInWords(exp, nowMs)}.`,
  ];
}

function timeInWords(seconds: unknown, nowMs: number): string {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  if (Number.isNaN(date.getTime())) return `${words(seconds)}, which is no time`;
  const fromNow = Math.round((date.getTime() - nowMs) / 1000);
  return `${date.toISOString()} (${durationInWords(Math.abs(fromNow))} ${fromNow < 0 ? 'ago' : 'from now'})`;
}

function durationInWords(seconds: number): string {
  const units: [string, number][] = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ];
  const [name, size] = units.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const count = Math.round(seconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** The verdict of a gateway with these settings. `why` is empty if it accepts the token. */
export interface ReadTokenVerdict {
  isAccepted: boolean;
  why: string;
}

export async function readTokenVerdict(
  token: string,
  settings: TokenSettings,
): Promise<ReadTokenVerdict> {
  try {
    await tokenVerifier(settings).verify(token);
    return { isAccepted: true, why: '' };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const noKeys =
      settings.secrets.length === 0 && settings.jwks === undefined
        ? ' Neither GATEWAY_READ_TOKEN_SECRETS nor GATEWAY_READ_TOKEN_JWKS is set here.'
        : '';
    return { isAccepted: false, why: `${error.status} ${error.code}. ${error.message}${noKeys}` };
  }
}

function verdictInWords({ isAccepted, why }: ReadTokenVerdict, { tenant }: TokenSettings): string {
  const gateway = `A gateway with these settings (tenant ${tenant})`;
  return isAccepted ? `${gateway} accepts it.` : `${gateway} refuses it: ${why}`;
}
