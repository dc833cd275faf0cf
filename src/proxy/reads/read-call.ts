import type { ClientRequest } from '../../platform/http/client-request.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';
import type { RequestContext } from '../../platform/server/request-context.ts';
import { ownRequestHeaders, readHeaders } from '../headers/request-headers.ts';
import type { AnswerHandler, Exchange } from '../upstream/exchange.ts';
import type { ReadUpstream } from '../upstream/upstream.ts';
import type { AnswerCall, ReadShare } from './shared-answer.ts';

/** What the request of a client brings. */
type ReadRequest = Pick<ClientRequest, 'rawHeaders'> & { method: 'GET' | 'HEAD' };

/** A read as it is sent to an upstream. The client's request is not read again. */
export class ReadCall implements AnswerCall {
  readonly upstream: ReadUpstream;
  readonly method: 'GET' | 'HEAD';
  /** The path and query of the upstream request. */
  readonly target: string;
  readonly context: RequestContext;
  share: ReadShare | undefined;
  /** The headers of the client that are forwarded. */
  private readonly clientHeaders: HeaderList;

  /** Throws `malformed_path` if a mapped header is invalid. */
  constructor(
    upstream: ReadUpstream,
    target: string,
    client: ReadRequest,
    context: RequestContext,
  ) {
    this.upstream = upstream;
    this.method = client.method;
    this.target = target;
    this.context = context;
    this.clientHeaders = readHeaders(client.rawHeaders, upstream);
  }

  /**
   * Two reads have the same key exactly if one upstream response suits both. It holds everything of the client that is
   * forwarded, except the parts of the target that the upstream takes for nothing.
   */
  get key(): string {
    const { upstream, method, target, clientHeaders } = this;
    let key = `${upstream.name} ${method} ${upstream.protocol.targetForKey(target)}`;
    // Values of headers contain no line end.
    for (let i = 0; i < clientHeaders.length; i += 2)
      key += `\n${clientHeaders[i]}:${clientHeaders[i + 1]}`;
    return key;
  }

  /** Sends it to the upstream. */
  send(handler: AnswerHandler): Exchange {
    const { upstream, method, target, clientHeaders, context } = this;
    const isLive = context.live !== undefined;
    const headers = clientHeaders.concat(ownRequestHeaders(upstream, context.requestId));
    const timeoutMs = upstream.timeoutMs(isLive);
    return upstream.exchange(
      { method, target, headers, context, timeoutMs, isLive, isRepeatable: true },
      handler,
    );
  }
}
