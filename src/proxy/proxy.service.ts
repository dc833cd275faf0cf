import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { accessOf } from '../auth/request-access.ts';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import { OpenReadLimits } from '../platform/limits/open-read-limits.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { isReadMethod } from '../platform/http/routes.ts';
import { upstreamTarget } from './upstream/upstream-target.ts';
import { Upstreams, type ProxiedUpstream } from './upstream/upstreams.ts';
import { asHeaderBytes } from './headers/held-secret.ts';
import { ForwardService } from './forward/forward.service.ts';
import type { AnswerRules } from './headers/response-headers.ts';
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
    private readonly readLimits: OpenReadLimits,
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
    return this.forwards.answer(request, response, { upstream, target, headers, rules });
  }
}
