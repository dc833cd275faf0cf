import { checkForkSource, FORK_HEADER } from '../../../contract/path-scope.ts';
import { decodeLeniently } from '../../../platform/http/request-path.ts';
import { CURSOR, withoutParameter } from './cache-parameters.ts';
import { liveValue, soleLiveValue } from './live-parameter.ts';
import { upstreamTarget, type MappedPaths } from '../upstream-target.ts';
import type { ReadProtocol } from './upstream-protocol.ts';

/** The Durable Streams protocol. Section names are those of its PROTOCOL.md. */
export const durableStreams: ReadProtocol = {
  exposedHeaders: [
    'Stream-Next-Offset',
    'Stream-Cursor',
    'Stream-Up-To-Date',
    'Stream-Closed',
    'Stream-SSE-Data-Encoding',
  ],

  liveModeOf(query) {
    const value = liveValue(query);
    if (value === undefined) return undefined;
    return value === 'sse' ? 'sse' : 'long-poll';
  },

  /** Source: "Read modes". */
  isSurelyLive(target) {
    const value = soleLiveValue(target);
    return value === 'long-poll' || value === 'sse';
  },

  /** Servers answer a long-poll after 30 s, and an event stream ends after a minute. */
  longestSilenceMs: { poll: 35_000, events: 60_000 },

  /**
   * The control event has the offset to resume from. If a stream ended between data and its control event, the
   * reader would get the data twice ("Server-sent events").
   */
  safeEvent: 'control',

  targetForKey: (target) => withoutParameter(target, CURSOR),

  mappedHeader: { name: FORK_HEADER, toUpstream: toUpstreamForkSource },

  /**
   * The 403 means that a later producer with the same id has taken over. Its epoch is in the response ("Idempotent
   * Producers").
   */
  isForClient: (status, header) => status === 403 && header('producer-epoch') !== undefined,

  doubtOf(method = '', target, basePath) {
    const advice = WRITE_ADVICE[method];
    return advice !== undefined && isControlPlane(target, basePath) ? CONTROL_ADVICE : advice;
  },
};

/** Source: "Idempotent Producers", "Create Stream", "Delete Stream". */
const WRITE_ADVICE: Record<string, string | undefined> = {
  POST:
    '. The append may have been made. With the same Producer-Id, Producer-Epoch and Producer-Seq it can be ' +
    'repeated safely; without them read the stream before you repeat it.',
  PUT: '. The stream may have been created. The same PUT can be repeated safely: it creates a stream once.',
  DELETE:
    '. The stream may have been deleted. A DELETE can be repeated safely: 404 says that it is gone.',
};

/** The store's subscriptions. None of their requests appends to a stream, creates or deletes one. */
const CONTROL_ADVICE =
  '. The change may have been made. Look at the subscription with GET before you repeat it.';

/** Whether a checked target is below the control plane. Its letters may be percent-encoded. */
function isControlPlane(target: string, basePath: string): boolean {
  const [segment = ''] = target.slice(basePath.length + 1).split(/[/?]/, 1);
  return decodeLeniently(segment) === '__ds';
}

/**
 * The value of `Stream-Forked-From` for the history store: a public path becomes the store's own, anything else is
 * unchanged. Throws `malformed_path`.
 */
function toUpstreamForkSource(source: string, upstream: MappedPaths): string {
  checkForkSource(source);
  return source.startsWith(`${upstream.prefix}/`) ? upstreamTarget(upstream, source, '') : source;
}
