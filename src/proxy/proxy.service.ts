import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { isReadMethod } from '../platform/http/routes.ts';
import { upstreamTarget } from './upstream/upstream-target.ts';
import { Upstreams, type ProxiedUpstream, type ReadUpstream } from './upstream/upstreams.ts';
import { asHeaderBytes } from './headers/held-secret.ts';
import { ForwardService } from './forward/forward.service.ts';
import type { AnswerRules } from './headers/response-headers.ts';
import { ReadCall } from './reads/read-call.ts';
import { ReadService } from './reads/read.service.ts';
import { upstreamRequestHeaders } from './headers/request-headers.ts';

/** Forwards a request to an upstream and its response to the client, byte for byte. */
@Injectable()
export class ProxyService {
  private readonly varyNames: readonly string[];

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly reads: ReadService,
    private readonly forwards: ForwardService,
    private readonly upstreams: Upstreams,
  ) {
    this.varyNames = config.corsOrigins === '*' ? ['Authorization'] : ['Authorization', 'Origin'];
  }

  /**
   * Answers a read that has been admitted, GET or HEAD. `query` replaces the request's own query on routes that change
   * it. Throws a `GatewayError`, or passes it to `onRefused` until the response has begun. It returns at once, because
   * Nest would keep 3 KiB for each parked read that its handler waits for.
   */
  read(
    request: ClientRequest,
    response: ServerResponse,
    upstream: ReadUpstream,
    onRefused: (error: Error) => void,
    query = requestContext(request).query,
  ): void {
    const context = requestContext(request);
    const { rawHeaders, method } = request;
    if (!isReadMethod(method)) throw new Error(`${method} came to the route of reads`);
    context.live = upstream.protocol.liveModeOf(query);
    const { target, rules } = this.begin(request, response, upstream, query);
    const call = new ReadCall({ upstream, method, target, rawHeaders, context });
    this.reads.answer(call, response, rules, onRefused);
  }

  /**
   * Forwards any other request that has been admitted. Throws or rejects with a `GatewayError` until the response has
   * begun.
   */
  forward(
    request: ClientRequest,
    response: ServerResponse,
    upstream: ProxiedUpstream,
  ): Promise<void> {
    const { query, requestId } = requestContext(request);
    const { target, rules } = this.begin(request, response, upstream, query);
    const headers = upstreamRequestHeaders(request.rawHeaders, upstream, requestId);
    return this.forwards.answer(request, response, { upstream, target, headers, rules });
  }

  private begin(
    request: ClientRequest,
    response: ServerResponse,
    upstream: ProxiedUpstream,
    query: string,
  ): { target: string; rules: AnswerRules } {
    // The client can have disconnected while its credential was checked, and no later event would tell.
    if (response.destroyed) throw new ClientGone();
    const context = requestContext(request);
    context.upstream = upstream.name;
    const target = upstreamTarget(upstream, context.path, query);
    // The secret of this request. It may have changed when the response arrives.
    const { syncSecret } = this.upstreams;
    const rules: AnswerRules = {
      upstream,
      requestTarget: target,
      publicBaseUrl: this.config.publicUrl ?? '',
      varyNames: this.varyNames,
      secretBytes: syncSecret && asHeaderBytes(syncSecret),
    };
    return { target, rules };
  }
}
