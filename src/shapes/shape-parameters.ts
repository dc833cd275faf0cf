import { GatewayError } from '../platform/errors/gateway-error.ts';
import { uriDecoded } from '../platform/http/request-path.ts';
import { SECRETS } from '../proxy/upstream/protocols/electric.ts';

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

/** The decoded parameters of a shape read. */
export interface ShapeParameters {
  /** All of them, in their order. */
  parameters: ReadonlyMap<string, string>;
  /** The values of `params[n]` by n. */
  params: ReadonlyMap<string, string>;
}

/**
 * Reads a raw query, and leaves out the client's secrets. Throws `unknown_parameter`, also where a number is missing,
 * `duplicate_parameter`, and for broken percent-encoding `invalid_where` or `invalid_parameter`.
 */
export function readShapeParameters(query: string): ShapeParameters {
  const parameters = new Map<string, string>();
  const params = new Map<string, string>();
  for (const pair of query.slice(1).split('&')) {
    if (pair === '') continue;
    const [rawName = '', ...rest] = pair.split('=');
    const name = decode(rawName) ?? rawName;
    if (SECRETS.includes(name)) continue;
    const number = PARAM.exec(name)?.[1];
    if (number === undefined && !PARAMETERS.has(name)) throw unknown(name);
    if (parameters.has(name)) throw duplicate(name);
    const value = decode(rest.join('='));
    if (value === undefined) throw undecodable(name);
    parameters.set(name, value);
    if (number !== undefined) params.set(number, value);
  }
  for (const number of params.keys()) {
    if (Number(number) > params.size) throw unknown(`params[${number}]`);
  }
  return { parameters, params };
}

/** A query with these parameters, encoded so that every server reads it alike. */
export function printParameters(parameters: ReadonlyMap<string, string>): string {
  const pairs = [...parameters].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return `?${pairs.join('&')}`;
}

const encode = encodeURIComponent;

/** Decodes like a form (WHATWG URL, "application/x-www-form-urlencoded"). Undefined if it is invalid. */
function decode(text: string): string | undefined {
  // A byte above ASCII is one character here and a part of one to the engine.
  return /[^\x21-\x7e]/.test(text) ? undefined : uriDecoded(text.replaceAll('+', ' '));
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
