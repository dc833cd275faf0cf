import { Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientRequest } from '../http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { HeldBytes } from '../limits/held-bytes.ts';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { ClientGone } from '../request/client-gone.ts';
import { liveModeOf } from '../request/live-read.ts';
import { requestContext } from '../request/request-context.ts';
import { isReadMethod } from '../request/routes.ts';
import { UpstreamCalls, type UpstreamCall } from '../telemetry/upstream-calls.ts';
import { flushAnswerHead, isEventStream, writeAnswerHead } from './answer-head.ts';
import { HeaderBlock } from './header-block.ts';
import { headerObject, type HeaderList } from './header-list.ts';
import { asHeaderBytes } from './held-secret.ts';
import { HttpProxyEngine } from './http-proxy-engine.ts';
import { outgoingBody } from './outgoing-body.ts';
import { Relay } from './relay.ts';
import { ReadExpiry } from './read-expiry.ts';
import type { AnswerRules } from './reads/read-head.ts';
import { ReadService } from './reads/read.service.ts';
import { upstreamRequestHeaders } from './request-headers.ts';
import { clientResponseHeaders } from './response-headers.ts';
import { safeEventOf } from './sse-boundary.ts';
import { upstreamTarget } from './target.ts';
import type { Upstream } from './upstreams.ts';

/** Passes a request on to an upstream and its answer back, byte for byte in both directions. */
@Injectable()
export class ProxyService {
  private readonly varyNames: readonly string[];
  private readonly secretBytes: string | undefined;

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly reads: ReadService,
    private readonly engine: HttpProxyEngine,
    private readonly expiry: ReadExpiry,
    private readonly readLimits: OpenReadLimits,
    private readonly upstreamCalls: UpstreamCalls,
    private readonly held: HeldBytes,
  ) {
    this.varyNames = config.corsOrigins === '*' ? ['Authorization'] : ['Authorization', 'Origin'];
    this.secretBytes = config.sync.secret && asHeaderBytes(config.sync.secret);
  }

  /**
   * Forwards a request that has been let in. `query` stands in for the request's own where a route
   * has to change it. Throws or rejects with a `GatewayError` as long as the answer has not begun.
   */
  forward(
    request: ClientRequest,
    response: ServerResponse,
    upstream: Upstream,
    query = requestContext(request).query,
  ): Promise<void> {
    // It can have gone while its credential was judged; nothing would tell any more.
    if (response.destroyed) throw new ClientGone();
    const context = requestContext(request);
    const isRead = isReadMethod(request.method);
    if (isRead && upstream.isRead) {
      context.live = liveModeOf(query);
      response.on('close', this.readLimits.enter(context.credentialId ?? ''));
    }
    context.upstream = upstream.name;
    const target = upstreamTarget(upstream, context.path, query);
    const headers = upstreamRequestHeaders(request.rawHeaders, upstream, context.requestId);
    const rules: AnswerRules = {
      upstream,
      requestTarget: target,
      publicBaseUrl: this.config.publicUrl ?? '',
      varyNames: this.varyNames,
      secretBytes: this.secretBytes,
    };
    const { method } = request;
    if (isReadMethod(method) && upstream.isRead) {
      return this.reads.answer({ upstream, method, target, headers, context }, response, rules);
    }
    return this.forwardWithBody(request, response, { upstream, target, headers, rules });
  }

  private async forwardWithBody(
    request: ClientRequest,
    response: ServerResponse,
    { upstream, target, headers, rules }: Forwarding,
  ): Promise<void> {
    const context = requestContext(request);
    const isRead = isReadMethod(request.method);
    const sent = headerObject(headers);
    const body = await outgoingBody(request, response, this.config.maxBodyBytes, this.held);
    if (body) sent['content-length'] = String(body.lengthBytes);
    const abort = new AbortController();
    if (isRead) context.endRead = (error) => abort.abort(error);
    const expiry = this.expiry.watch(context, (error) => abort.abort(error));
    const begin = (): UpstreamCall => {
      const begun = this.upstreamCalls.begin(upstream.name, request.method, context, target);
      Object.assign(sent, begun.headers);
      return begun;
    };
    let call = begin();
    try {
      const answer = await this.engine.send({
        client: request,
        response,
        upstream,
        target,
        headers: sent,
        body: body?.stream,
        timeoutMs: isRead ? upstream.readTimeoutMs : upstream.writeTimeoutMs,
        signal: abort.signal,
        onResend: () => {
          call.ended('stale');
          call = begin();
        },
      });
      tellOfAnswer(call, answer);
      const status = answer.statusCode ?? 502;
      writeAnswerHead(response, context, {
        status,
        headers: new HeaderBlock(clientResponseHeaders(answer.rawHeaders, { ...rules, status })),
        isEventStream: isEventStream(answer.headers['content-type']),
      });
      flushAnswerHead(response);
      const relay = new Relay(answer, response, this.held, {
        stallMs: this.config.timeouts.upstreamStallMs,
        safeEvent: safeEventOf(upstream),
      });
      abort.signal.addEventListener('abort', () => relay.endAtBoundary());
      if (expiry) response.once('close', () => expiry.callOff());
      relay.start();
    } catch (error) {
      expiry?.callOff();
      call.failed(error);
      throw error;
    }
  }
}

/** A request toward an upstream, but for its body. */
interface Forwarding {
  upstream: Upstream;
  target: string;
  headers: HeaderList;
  rules: AnswerRules;
}

function tellOfAnswer(call: UpstreamCall, answer: IncomingMessage): void {
  call.answered(answer.statusCode ?? 502);
  const end = (): void => {
    if (answer.complete) call.ended();
    // Without an error it was the gateway that broke off, such as for a client that has gone.
    else call.ended(answer.errored ? 'broken' : 'canceled');
  };
  if (answer.closed) end();
  else answer.once('close', end);
}
