import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { tokenExpired } from '../auth/bearer.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { hasBody, letBodyCome, readBody } from '../request/request-body.ts';
import { requestContext, type RequestContext } from '../request/request-context.ts';
import { Deadlines } from './deadlines.ts';
import { HttpProxyEngine } from './http-proxy-engine.ts';
import { Relay, RESUMABLE_EVENT } from './relay.ts';
import { upstreamRequestHeaders } from './request-headers.ts';
import { clientResponseHeaders } from './response-headers.ts';
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
    const context = requestContext(request);
    context.upstream = upstream.name;
    const isReadMethod = request.method === 'GET' || request.method === 'HEAD';
    if (isReadMethod && upstream.isRead) {
      response.once('close', this.readLimits.enter(context.credentialId ?? ''));
    }
    const { stream, length } = isReadMethod ? NO_BODY : await this.outgoingBody(request, response);
    const target = upstreamTarget(upstream, context.path, query);
    const abort = new AbortController();
    if (isReadMethod) context.endRead = (error) => abort.abort(error);
    const expiry = this.watchExpiry(context, abort);
    try {
      const answer = await this.engine.send({
        client: request,
        response,
        upstream,
        target,
        headers: upstreamRequestHeaders(request.rawHeaders, upstream, context.requestId, length),
        body: stream,
        timeoutMs: isReadMethod ? upstream.readTimeoutMs : upstream.writeTimeoutMs,
        signal: abort.signal,
      });
      this.writeHead(request, response, answer, upstream, target);
      const relay = new Relay(answer, response, safeEventOf(upstream));
      abort.signal.addEventListener('abort', () => relay.endAtBoundary());
      response.once('close', expiry.callOff);
      relay.start();
    } catch (error) {
      expiry.callOff();
      throw error;
    }
  }

  /** A body of declared length is streamed; one of unknown length is held, at most up to the cap. */
  private async outgoingBody(request: IncomingMessage, response: ServerResponse): Promise<Body> {
    if (!hasBody(request)) return NO_BODY;
    letBodyCome(request, response);
    const declared = request.headers['content-length'];
    if (declared !== undefined) return { stream: request, length: Number(declared) };
    const bytes = await readBody(request, this.config.maxBodyBytes);
    return { stream: Readable.from([bytes], { objectMode: false }), length: bytes.length };
  }

  /** Aborts with `token_expired` once the read token that opened the request has expired. */
  private watchExpiry(context: RequestContext, abort: AbortController): { callOff: () => void } {
    if (!context.readToken) return { callOff: () => undefined };
    const atMs = context.readToken.expiresAtSeconds * 1000;
    return { callOff: this.expiries.add(atMs, () => abort.abort(tokenExpired())) };
  }

  private writeHead(
    request: Request,
    response: Response,
    answer: IncomingMessage,
    upstream: Upstream,
    target: string,
  ): void {
    const headers = clientResponseHeaders(answer.rawHeaders, {
      upstream,
      requestTarget: target,
      status: answer.statusCode ?? 502,
      publicBaseUrl: publicBaseUrl(this.config.publicUrl, request.headers.host),
      varyNames: this.varyNames,
    });
    response.statusCode = answer.statusCode ?? 502;
    for (let i = 0; i < headers.length; i += 2) {
      response.appendHeader(headers[i] ?? '', headers[i + 1] ?? '');
    }
    if (/^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '')) {
      // nginx in front would otherwise collect the events.
      response.setHeader('X-Accel-Buffering', 'no');
    }
    // A parked event stream has headers long before its first byte.
    response.flushHeaders();
  }
}

interface Body {
  stream: Readable | undefined;
  /** In bytes. */
  length: number | undefined;
}

const NO_BODY: Body = { stream: undefined, length: undefined };

function safeEventOf(upstream: Upstream): string | undefined {
  return upstream.name === 'history' ? RESUMABLE_EVENT : undefined;
}
