import type { LiveMode } from '../../../platform/http/client-request.ts';
import type { MappedPaths } from '../upstream-target.ts';

/** The protocol of an upstream. */
export interface UpstreamProtocol {
  /** The server's name in error messages, by default "the server behind" the route. */
  serverName?: string;
  /**
   * The second sentence of an error for a request that may have taken effect: how to repeat it safely. Undefined
   * if the request changes nothing.
   */
  doubtOf(method: string | undefined, target: string, basePath: string): string | undefined;
  /** Whether a 401 or 403 is for the client and not about the gateway's own credential. */
  isForClient?(status: number, header: (lowerName: string) => string | undefined): boolean;
  /** A request header that names a path of the upstream in its public form. */
  mappedHeader?: {
    /** The name in lower case. */
    name: string;
    /** Its value for the upstream. Throws `malformed_path`. */
    toUpstream(value: string, upstream: MappedPaths): string;
  };
  /** The query without the credentials that the protocol accepts there. Its other bytes are unchanged. */
  withoutSecrets?(query: string): string;
  /**
   * How long in milliseconds a live read is silent at most while its server is there: a long-poll before its response,
   * and an event stream between two bytes. No reader joins one that was silent for longer.
   */
  longestSilenceMs?: { poll: number; events: number };
  /** The event after which an event stream may end. Without it every event will do. */
  safeEvent?: string;
}

/** A protocol whose reads may wait for new data and be shared. */
export interface ReadProtocol extends UpstreamProtocol {
  /** Its response headers that pages may read. */
  exposedHeaders: readonly string[];
  /**
   * The mode that a live read's query selects, or undefined for a read that is answered at once. In doubt a read
   * counts as live, because it would lose its response at the deadline of other reads.
   */
  liveModeOf(query: string): LiveMode | undefined;
  /**
   * Whether the upstream certainly treats a read as live, so that it may be shared as one. In doubt it counts as
   * answered at once, and its readers never get a response that was requested before they came.
   */
  isSurelyLive(target: string): boolean;
  longestSilenceMs: { poll: number; events: number };
  /**
   * A target without the parts that do not affect the response. It is the same for two reads that can share a
   * response.
   */
  targetForKey(target: string): string;
}
