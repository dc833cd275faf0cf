/** The caller of a request, from its `traceparent` header. */
export interface RemoteParent {
  /** 32 lower-case hex digits, not all zero. */
  traceId: string;
  /** 16 lower-case hex digits, not all zero. */
  spanId: string;
  /** Bit 0: the caller records this trace. */
  flags: number;
}

const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;

/**
 * Parses a `traceparent`. Returns undefined for an invalid one, which is ignored together with its `tracestate`
 * (W3C Trace Context §3.2, §3.3). Later versions may have more parts; version 0 must not.
 */
export function parseTraceparent(value: string | string[] | undefined): RemoteParent | undefined {
  if (typeof value !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** The trace that a `traceparent` names, for the log. */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  return traceparent === undefined ? undefined : parseTraceparent(traceparent)?.traceId;
}
