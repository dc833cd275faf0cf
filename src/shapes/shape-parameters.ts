import { GatewayError } from '../errors/gateway-error.ts';
import { withoutSecrets } from '../upstream/protocols/electric.ts';

/**
 * The parameters of a shape read with a read token, besides `params[n]`: those that `@electric-sql/client` sends.
 * Any other parameter is refused until it is listed here.
 */
const PARAMETERS: ReadonlySet<string> = new Set([
  'table',
  'where',
  'columns',
  'offset',
  'handle',
  'live',
  'live_sse',
  'experimental_live_sse',
  'cursor',
  'log',
  'replica',
  'expired_handle',
  'cache-buster',
  'subset__where',
  'subset__params',
  'subset__order_by',
  'subset__limit',
  'subset__offset',
]);
const PARAM = /^params\[([1-9]\d{0,3})\]$/;

export interface ShapeParameter {
  name: string;
  /** The decoded value. */
  value: string;
  /** The pair as received if every server reads it alike, or else as this gateway encodes it. */
  sent: string;
}

/**
 * The parameters of a raw query by name, in their order and without the client's secrets. Throws
 * `unknown_parameter` and `duplicate_parameter`, and for broken percent-encoding `invalid_where` or
 * `invalid_parameter`.
 */
export function readShapeParameters(query: string): Map<string, ShapeParameter> {
  const pairs = withoutSecrets(query)
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map(splitPair);
  const names = pairs.map(({ name }) => name);
  const parameters = new Map<string, ShapeParameter>();
  for (const { pair, name, rawValue } of pairs) {
    checkName(name, names);
    if (parameters.has(name)) throw duplicate(name);
    const value = decode(rawValue);
    if (value === undefined) throw undecodable(name);
    const sent = isPlain(pair) ? pair : `${encode(name)}=${encode(value)}`;
    parameters.set(name, { name, value, sent });
  }
  return parameters;
}

/** The values of `params[n]` by n. Throws `unknown_parameter` if a number is missing. */
export function paramsByNumber(
  parameters: ReadonlyMap<string, ShapeParameter>,
): Map<string, string> {
  const params = new Map<string, string>();
  for (const { name, value } of parameters.values()) {
    const number = PARAM.exec(name)?.[1];
    if (number !== undefined) params.set(number, value);
  }
  for (const number of params.keys()) {
    if (Number(number) > params.size) throw unknown(`params[${number}]`);
  }
  return params;
}

function splitPair(pair: string): { pair: string; name: string; rawValue: string } {
  const equals = pair.indexOf('=');
  const rawName = equals === -1 ? pair : pair.slice(0, equals);
  const name = decode(rawName);
  if (name === undefined) throw unknown(rawName);
  return { pair, name, rawValue: equals === -1 ? '' : pair.slice(equals + 1) };
}

/** Decodes like a form (WHATWG URL, "application/x-www-form-urlencoded"). Undefined if it is invalid. */
function decode(text: string): string | undefined {
  // A byte above ASCII is one character here and a part of one to the engine.
  if (/[^\x21-\x7e]/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const encode = encodeURIComponent;

/** Whether all servers read a pair in the same way. Some treat `;` like `&`. */
function isPlain(pair: string): boolean {
  return /^[\w-]+(?:\[\d+\]|%5[Bb]\d+%5[Dd])?=[\w\-.~!$'()*,:@/?+%]*$/.test(pair);
}

function checkName(name: string, names: readonly string[]): void {
  if (PARAMETERS.has(name) || PARAM.test(name)) return;
  // Some servers read `where[]` as a second `where`.
  const [base = ''] = name.split('[');
  throw names.includes(base) && PARAMETERS.has(base) ? duplicate(base) : unknown(name);
}

function duplicate(name: string): GatewayError {
  return new GatewayError('duplicate_parameter', `Give the parameter "${name}" once only.`);
}

function unknown(name: string): GatewayError {
  return new GatewayError(
    'unknown_parameter',
    `The parameter "${shown(name)}" does not pass with a read token; the HTTP API document lists those that do.`,
  );
}

/** A parameter name for a message. A name that could contain a credential is cut. */
function shown(name: string): string {
  const printable = name.slice(0, 40).replace(/[^\w[\].-]/g, '?');
  const short = printable.replace(/[A-Za-z0-9]{16,}/g, (run) => `${run.slice(0, 8)}…`);
  return name.length > 40 ? `${short}…` : short;
}

function undecodable(name: string): GatewayError {
  const code = name === 'where' || name === 'subset__where' ? 'invalid_where' : 'invalid_parameter';
  return new GatewayError(
    code,
    `The value of "${shown(name)}" holds percent-encoding that is broken or not UTF-8, or a raw character.`,
  );
}
