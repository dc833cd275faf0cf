import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { tokenExpired } from '../auth/bearer.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { ClientGone } from '../request/client-gone.ts';
import { liveModeOf } from '../request/live-read.ts';
import { requestContext, type RequestContext } from '../request/request-context.ts';
import { isReadMethod } from '../request/routes.ts';
import { UpstreamCalls, type UpstreamCall } from '../telemetry/upstream-calls.ts';
import { writeAnswerHead } from './answer-head.ts';
import { Deadlines } from './deadlines.ts';
import { HttpProxyEngine } from './http-proxy-engine.ts';
import { outgoingBody } from './outgoing-body.ts';
import { Relay, RESUMABLE_EVENT } from './relay.ts';
import { upstreamRequestHeaders } from './request-headers.ts';
import { publicBaseUrl } from './public-base-url.ts';
import { upstreamTarget } from './target.ts';
import type { Upstream } from './upstreams.ts';

/** Passes a request on to an upstream and its answer back, byte for byte in both directions. */
@Injectable()
export class ProxyService {
  private readonly expiries = new Deadlines();
  private readonly varyNames: readonly string[];

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly engine: HttpProxyEngine,
    private readonly readLimits: OpenReadLimits,
    private readonly upstreamCalls: UpstreamCalls,
  ) {
    this.varyNames = config.corsOrigins === '*' ? ['Authorization'] : ['Authorization', 'Origin'];
  }

  /**
   * Forwards a request that has been let in. `query` stands in for the request's own where a route
   * has to change it. Rejects with a `GatewayError` as long as the answer has not begun.
   */
  async forward(
    request: Request,
    response: Response,
    upstream: Upstream,
    query = requestContext(request).query,
  ): Promise<void> {
    // It can have gone while its credential was judged; nothing would tell any more.
    if (response.destroyed) throw new ClientGone();
    const context = requestContext(request);
    const isRead = isReadMethod(request.method);
    if (isRead && upstream.isRead) {
      context.live = liveModeOf(query);
      response.once('close', this.readLimits.enter(context.credentialId ?? ''));
    }
    const target = upstreamTarget(upstream, context.path, query);
    const headers = upstreamRequestHeaders(request.rawHeaders, upstream, context.requestId);
    const body = await outgoingBody(request, response, this.config.maxBodyBytes);
    if (body) headers['content-length'] = String(body.lengthBytes);
    const abort = new AbortController();
    if (isRead) context.endRead = (error) => abort.abort(error);
    const expiry = this.watchExpiry(context, abort);
    context.upstream = upstream.name;
    const call = this.upstreamCalls.begin(upstream.name, request.method, context, target);
    Object.assign(headers, call.headers);
    try {
      const answer = await this.engine.send({
        client: request,
        response,
        upstream,
        target,
        headers,
        body: body?.stream,
        timeoutMs: isRead ? upstream.readTimeoutMs : upstream.writeTimeoutMs,
        signal: abort.signal,
      });
      tellOfAnswer(call, answer);
      writeAnswerHead(response, answer, {
        upstream,
        requestTarget: target,
        status: answer.statusCode ?? 502,
        publicBaseUrl: publicBaseUrl(this.config.publicUrl, request.headers.host),
        varyNames: this.varyNames,
      });
      const relay = new Relay(answer, response, safeEventOf(upstream));
      abort.signal.addEventListener('abort', () => relay.endAtBoundary());
      response.once('close', expiry.callOff);
      relay.start();
    } catch (error) {
      expiry.callOff();
      call.failed(error);
      throw error;
    }
  }

  /** Aborts with `token_expired` once the read token that opened the request has expired. */
  private watchExpiry(context: RequestContext, abort: AbortController): { callOff: () => void } {
    if (!context.readToken) return { callOff: () => undefined };
    const atMs = context.readToken.expiresAtSeconds * 1000;
    return { callOff: this.expiries.add(atMs, () => abort.abort(tokenExpired())) };
  }
}

function safeEventOf(upstream: Upstream): string | undefined {
  return upstream.name === 'history' ? RESUMABLE_EVENT : undefined;
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
