import { isFromNow, liveValue, soleLiveValue } from './live-parameter.ts';
import type { ReadProtocol } from './upstream-protocol.ts';

/** Electric's HTTP API. */
export const electric: ReadProtocol = {
  /** Any value but `false` waits. */
  liveModeOf(query) {
    if (liveValue(query) === undefined) return undefined;
    return LIVE_SSE.test(query) ? 'sse' : 'long-poll';
  },

  isSurelyLive: (target) => soleLiveValue(target) === 'true',

  isFromNow,

  safeEvent: undefined,

  targetForKey: withoutCursor,

  withoutSecrets,

  /** It is only ever read. */
  doubtOf: () => undefined,
};

/** The stream of events is named beside `live=true`. */
const LIVE_SSE = /[?&](?:experimental_)?live_sse=true(?:&|$)/;

const SECRETS = ['secret', 'api_secret'];

const CURSOR = /^cursor=\d+$/;

/**
 * `cursor` keeps caches from giving an old answer of a live read once more. Electric counts it up by chance, so that
 * readers of the same shape hardly ever send the same one: of 300 long-polls none was shared. It decides nothing about
 * the rows. One that is no number is left in, for Electric to judge.
 */
function withoutCursor(target: string): string {
  if (!target.includes('cursor=')) return target;
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return target;
  const pairs = target.slice(queryAt + 1).split('&');
  const kept = pairs.filter((pair) => !CURSOR.test(pair));
  return target.slice(0, queryAt + 1) + kept.join('&');
}

/** A query without Electric's credential; everything else keeps its bytes. */
export function withoutSecrets(query: string): string {
  if (query.length < 2) return query;
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => !SECRETS.includes(parameterName(pair)));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** A parameter's decoded name, without the brackets that some servers read as nesting. */
function parameterName(pair: string): string {
  const raw = (pair.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  let name = raw;
  try {
    name = decodeURIComponent(raw);
  } catch {
    // Not decodable: no server can read it as one of the names that matter.
  }
  return name.split('[', 1)[0] ?? '';
}
