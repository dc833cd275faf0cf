import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { isReadMethod, type ClientRequest } from '../platform/http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { upstreamTarget } from './upstream/upstream-target.ts';
import type { ReadUpstream, Upstream } from './upstream/upstream.ts';
import { Upstreams } from './upstream/upstreams.ts';
import { asHeaderBytes } from './headers/held-secret.ts';
import { ForwardService } from './forward/forward.service.ts';
import type { AnswerRules } from './headers/response-headers.ts';
import { ReadCall } from './reads/read-call.ts';
import { ReadService } from './reads/read.service.ts';

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
    const rules = this.begin(request, response, upstream, query);
    const call = new ReadCall(upstream, rules.requestTarget, { method, rawHeaders }, context);
    this.reads.answer(call, response, rules, onRefused);
  }

  /**
   * Forwards any other request that has been admitted. Throws or rejects with a `GatewayError` until the response has
   * begun.
   */
  forward(request: ClientRequest, response: ServerResponse, upstream: Upstream): Promise<void> {
    const { query } = requestContext(request);
    return this.forwards.answer(request, response, this.begin(request, response, upstream, query));
  }

  private begin(
    request: ClientRequest,
    response: ServerResponse,
    upstream: Upstream,
    query: string,
  ): AnswerRules {
    // The client can have disconnected while its credential was checked, and no later event would tell.
    if (response.destroyed) throw new ClientGone();
    const context = requestContext(request);
    context.upstream = upstream.name;
    const target = upstreamTarget(upstream, context.path, query);
    // The secret of this request. It may have changed when the response arrives.
    const { syncSecret } = this.upstreams;
    return {
      upstream,
      requestTarget: target,
      publicBaseUrl: this.config.publicUrl ?? '',
      varyNames: this.varyNames,
      secretBytes: syncSecret && asHeaderBytes(syncSecret),
    };
  }
}
