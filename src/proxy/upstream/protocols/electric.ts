import { uriDecoded } from '../../../platform/http/request-path.ts';
import { CACHE_BUSTER, CURSOR, withoutParameter } from './cache-parameters.ts';
import { liveValue, soleLiveValue } from './live-parameter.ts';
import type { ReadProtocol } from './upstream-protocol.ts';

/** Electric's HTTP API. */
export const electric: ReadProtocol = {
  exposedHeaders: [
    'electric-handle',
    'electric-offset',
    'electric-schema',
    'electric-cursor',
    'electric-up-to-date',
    'electric-has-data',
  ],

  /** Any value except `false` waits. */
  liveModeOf(query) {
    if (liveValue(query) === undefined) return undefined;
    return LIVE_SSE.test(query) ? 'sse' : 'long-poll';
  },

  isSurelyLive: (target) => soleLiveValue(target) === 'true',

  /** A long-poll is answered after 20 s. An event stream has a comment every 21 s. */
  longestSilenceMs: { poll: 35_000, events: 60_000 },

  targetForKey: (target) => withoutParameter(withoutParameter(target, CURSOR), CACHE_BUSTER),

  withoutSecrets,

  /** Clients only read it. */
  doubtOf: () => undefined,
};

/** A parameter beside `live=true` selects events. */
const LIVE_SSE = /[?&](?:experimental_)?live_sse=true(?:&|$)/;

/** The parameters that carry Electric's credential. */
export const SECRETS: readonly string[] = ['secret', 'api_secret'];

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
