import type { LiveMode } from '../../telemetry/shared-reads.ts';
import type { MappedPaths } from '../upstream-target.ts';

/** What is particular to the protocol that an upstream speaks. */
export interface UpstreamProtocol {
  /** What error messages call the server; by default "the server behind" the route. */
  serverName?: string;
  /**
   * The second sentence of an error for a request that may have taken effect: how to repeat it safely. Undefined
   * if the request changes nothing.
   */
  doubtOf(method: string | undefined, target: string, basePath: string): string | undefined;
  /** Whether a 401 or a 403 is for the client, and not about the gateway's own credential. */
  isForClient?(status: number, header: (lowerName: string) => string | undefined): boolean;
  /** A request header that names a place of the upstream, as the public paths have it. */
  mappedHeader?: {
    /** In lower case. */
    name: string;
    /** Its value as the upstream knows it. Throws `malformed_path`. */
    toUpstream(value: string, upstream: MappedPaths): string;
  };
  /** A query without the credentials that the protocol takes there; everything else keeps its bytes. */
  withoutSecrets?(query: string): string;
}

/** The same of a protocol whose reads may wait for what is new, and be shared. */
export interface ReadProtocol extends UpstreamProtocol {
  /**
   * The mode that a read's query asks for; undefined for one that is answered at once. Good for counting, not for
   * deciding anything: in doubt a read waits.
   */
  liveModeOf(query: string): LiveMode | undefined;
  /**
   * Whether the upstream is sure to take a read for one that waits. In doubt it is answered at once, and no reader of
   * such a read gets an answer that was asked for before it came.
   */
  isSurelyLive(target: string): boolean;
  /** Whether a read that waits begins at the present: no two readers mean the same by that. */
  isFromNow(target: string): boolean;
  /** The event after which an event stream may end; undefined where each will do. */
  safeEvent: string | undefined;
  /** A target without what changes nothing about the answer: the same for two reads that one answer does for. */
  targetForKey(target: string): string;
}
