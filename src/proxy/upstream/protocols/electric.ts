import { uriDecoded } from '../../../platform/http/request-path.ts';
import { isFromNow, liveValue, soleLiveValue } from './live-parameter.ts';
import type { ReadProtocol } from './upstream-protocol.ts';

/** Electric's HTTP API. */
export const electric: ReadProtocol = {
  /** Any value except `false` waits. */
  liveModeOf(query) {
    if (liveValue(query) === undefined) return undefined;
    return LIVE_SSE.test(query) ? 'sse' : 'long-poll';
  },

  isSurelyLive: (target) => soleLiveValue(target) === 'true',

  isFromNow,

  safeEvent: undefined,

  targetForKey: withoutCursor,

  withoutSecrets,

  /** Clients only read it. */
  doubtOf: () => undefined,
};

/** A parameter beside `live=true` selects events. */
const LIVE_SSE = /[?&](?:experimental_)?live_sse=true(?:&|$)/;

/** The parameters that carry Electric's credential. */
export const SECRETS: readonly string[] = ['secret', 'api_secret'];

const CURSOR = /^cursor=\d+$/;

/**
 * `cursor` keeps caches from repeating an old response of a live read. Electric chooses it partly at random, so
 * readers of the same shape rarely send the same one: of 300 long-polls none was shared. It does not affect the
 * rows, so the key leaves it out. One that is not a number is kept, for Electric to check.
 */
function withoutCursor(target: string): string {
  if (!target.includes('cursor=')) return target;
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return target;
  const pairs = target.slice(queryAt + 1).split('&');
  const kept = pairs.filter((pair) => !CURSOR.test(pair));
  return target.slice(0, queryAt + 1) + kept.join('&');
}

/** The query without Electric's credential. Its other bytes are unchanged. */
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
  // If it cannot be decoded, no server can read it as a name that matters.
  const name = uriDecoded(raw) ?? raw;
  return name.split('[', 1)[0] ?? '';
}
