import { accessOf } from '../../auth/request-access.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';
import type { RequestContext } from '../../platform/server/request-context.ts';
import type { ReadShare } from '../../platform/telemetry/read-share-metrics.ts';
import { upstreamRequestHeaders } from '../headers/request-headers.ts';
import type { ReadUpstream } from '../upstream/upstreams.ts';

interface ReadCallParts {
  upstream: ReadUpstream;
  method: 'GET' | 'HEAD';
  /** The path and query of the upstream request. */
  target: string;
  /** The client's headers as received. */
  rawHeaders: readonly string[];
  /** The client's request, for metrics and traces. */
  context: RequestContext;
}

/** A read as it is sent to an upstream. The client's request is not read again. */
export class ReadCall implements ReadCallParts {
  readonly upstream: ReadUpstream;
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly context: RequestContext;
  share: ReadShare | undefined;
  /** The headers, unless a request of another reader answers this one. They can be made again. */
  private made: HeaderList | undefined;

  /** Throws `malformed_path` if a mapped header is invalid. */
  constructor({ upstream, method, target, rawHeaders, context }: ReadCallParts) {
    this.upstream = upstream;
    this.method = method;
    this.target = target;
    this.rawHeaders = rawHeaders;
    this.context = context;
    this.made = this.headers;
  }

  /**
   * Notes which upstream request answers it, as far as is known: one of its own, or `first`, the request of another
   * reader.
   */
  setShare(share: ReadShare, first?: ReadCall): void {
    this.share = share;
    this.context.sharedWith = first?.context;
    if (first) this.made = undefined;
  }

  /** Identifies the credential that opened the read, for the limits. */
  get credentialId(): string {
    return accessOf(this.context)?.credentialId ?? '';
  }

  /** The headers of the upstream request. */
  get headers(): HeaderList {
    const { made, rawHeaders, upstream, context } = this;
    return made ?? upstreamRequestHeaders(rawHeaders, upstream, context.requestId);
  }
}
