import { Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { accessOf } from '../auth/request-access.ts';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { OpenReadLimits } from '../platform/limits/open-read-limits.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { isReadMethod } from '../platform/http/routes.ts';
import { UpstreamCalls, type UpstreamCall } from '../platform/telemetry/upstream-calls.ts';
import { upstreamTarget } from './upstream/upstream-target.ts';
import { Upstreams, type ProxiedUpstream } from './upstream/upstreams.ts';
import { flushAnswerHead, isEventStream, writeAnswerHead } from './headers/answer-head.ts';
import { HeaderBlock } from './headers/header-block.ts';
import { headerObject, type HeaderList } from '../platform/http/header-list.ts';
import { asHeaderBytes } from './headers/held-secret.ts';
import { HttpProxyEngine } from './forward/http-proxy-engine.ts';
import { outgoingBody } from './forward/outgoing-body.ts';
import { Relay } from './forward/relay.ts';
import type { AnswerRules } from './reads/read-head.ts';
import { ReadService } from './reads/read.service.ts';
import { upstreamRequestHeaders } from './headers/request-headers.ts';
import { clientResponseHeaders } from './headers/response-headers.ts';

/** Forwards a request to an upstream and its response to the client, byte for byte. */
@Injectable()
export class ProxyService {
  private readonly varyNames: readonly string[];

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly reads: ReadService,
    private readonly engine: HttpProxyEngine,
    private readonly readLimits: OpenReadLimits,
    private readonly upstreamCalls: UpstreamCalls,
    private readonly held: HeldBytes,
    private readonly upstreams: Upstreams,
  ) {
    this.varyNames = config.corsOrigins === '*' ? ['Authorization'] : ['Authorization', 'Origin'];
  }

  /**
   * Forwards a request that has been admitted. `query` replaces the request's own query on routes that change it.
   * Throws or rejects with a `GatewayError` until the response has begun.
   */
  forward(
    request: ClientRequest,
    response: ServerResponse,
    upstream: ProxiedUpstream,
    query = requestContext(request).query,
  ): Promise<void> {
    // The client can have disconnected while its credential was checked, and no later event would tell.
    if (response.destroyed) throw new ClientGone();
    const context = requestContext(request);
    const { method } = request;
    const isRead = upstream.isRead && isReadMethod(method);
    if (isRead) {
      context.live = upstream.protocol.liveModeOf(query);
      response.on('close', this.readLimits.enter(accessOf(context)?.credentialId ?? ''));
    }
    context.upstream = upstream.name;
    const target = upstreamTarget(upstream, context.path, query);
    const headers = upstreamRequestHeaders(request.rawHeaders, upstream, context.requestId);
    // The secret of this request. It may have changed when the response arrives.
    const { syncSecret } = this.upstreams;
    const rules: AnswerRules = {
      upstream,
      requestTarget: target,
      publicBaseUrl: this.config.publicUrl ?? '',
      varyNames: this.varyNames,
      secretBytes: syncSecret && asHeaderBytes(syncSecret),
    };
    if (isRead) {
      return this.reads.answer({ upstream, method, target, headers, context }, response, rules);
    }
    return this.forwardApart(request, response, { upstream, target, headers, rules });
  }

  /** Sends a request that is not shared and may have a body. */
  private async forwardApart(
    request: ClientRequest,
    response: ServerResponse,
    { upstream, target, headers, rules }: Forwarding,
  ): Promise<void> {
    const context = requestContext(request);
    const sent = headerObject(headers);
    const body = await outgoingBody(request, response, this.config.maxBodyBytes, this.held);
    if (body) sent['content-length'] = String(body.lengthBytes);
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
        timeoutMs: upstream.timeoutMs,
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
      new Relay(answer, response, this.held, this.config.timeouts.upstreamStallMs).start();
    } catch (error) {
      call.failed(error);
      throw error;
    }
  }
}

/** A request to an upstream, without its body. */
interface Forwarding {
  upstream: ProxiedUpstream;
  target: string;
  headers: HeaderList;
  rules: AnswerRules;
}

function tellOfAnswer(call: UpstreamCall, answer: IncomingMessage): void {
  call.answered(answer.statusCode ?? 502);
  const end = (): void => {
    // A complete response may still be broken off, if its end proves nothing.
    if (answer.errored) call.ended('broken');
    // Without an error the gateway itself broke off, for example because the client disconnected.
    else call.ended(answer.complete ? undefined : 'canceled');
  };
  if (answer.closed) end();
  else answer.once('close', end);
}
