import { isReadMethod, type ClientRequest } from '../../platform/http/client-request.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';
import type { RequestContext } from '../../platform/server/request-context.ts';
import { ownRequestHeaders, readHeaders, writeHeaders } from '../headers/request-headers.ts';
import type { RequestBody } from '../upstream/connections/wire-exchange.ts';
import type { AnswerHandler, Exchange } from '../upstream/exchange.ts';
import { isIdempotent } from '../upstream/send-again.ts';
import type { ReadUpstream, Upstream } from '../upstream/upstream.ts';
import type { AnswerCall, ReadShare } from './shared-answer.ts';

/** One whose response several readers may share. */
export type ReadCall = ProxyCall<ReadUpstream>;

/** A request as it is sent to an upstream. Of the client's own request only a streamed body is read again. */
export class ProxyCall<To extends Upstream = Upstream> implements AnswerCall {
  readonly upstream: To;
  readonly method: string;
  /** The path and query of the upstream request. */
  readonly target: string;
  readonly context: RequestContext;
  share: ReadShare | undefined;
  body: RequestBody | undefined;
  /** The headers of the client that are forwarded. */
  readonly clientHeaders: HeaderList;

  /** Throws `malformed_path` if a mapped header is invalid. */
  constructor(
    upstream: To,
    target: string,
    { method, rawHeaders }: Pick<ClientRequest, 'method' | 'rawHeaders'>,
    context: RequestContext,
  ) {
    this.upstream = upstream;
    this.method = method;
    this.target = target;
    this.context = context;
    const headersOf = upstream.isRead && isReadMethod(method) ? readHeaders : writeHeaders;
    this.clientHeaders = headersOf(rawHeaders, upstream);
  }

  /** Sends it to the upstream. */
  send(handler: AnswerHandler): Exchange {
    const { upstream, method, target, clientHeaders, context, body } = this;
    const isLive = context.live !== undefined;
    const headers = clientHeaders.concat(ownRequestHeaders(upstream, context.requestId));
    const timeoutMs = upstream.timeoutMs(isLive);
    // A streamed body is gone when it was sent.
    const isRepeatable = body === undefined && isIdempotent(method);
    return upstream.exchange(
      { method, target, headers, body, context, timeoutMs, isLive, isRepeatable },
      handler,
    );
  }
}
