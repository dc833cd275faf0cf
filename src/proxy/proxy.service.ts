import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { isReadMethod, type ClientRequest } from '../platform/http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { upstreamTarget } from './upstream/upstream-target.ts';
import type { ReadUpstream, Upstream } from './upstream/upstream.ts';
import { Upstreams } from './upstream/upstreams.ts';
import { asHeaderBytes } from './headers/held-secret.ts';
import type { AnswerRules } from './headers/response-headers.ts';
import { outgoingBody } from './outgoing-body.ts';
import { ClientAnswer } from './reads/client-answer.ts';
import { ProxyCall } from './reads/proxy-call.ts';
import { ReadService } from './reads/read.service.ts';
import { Reader } from './reads/reader.ts';
import { SharedAnswer } from './reads/shared-answer.ts';

/** Forwards a request to an upstream and its response to the client, byte for byte. */
@Injectable()
export class ProxyService {
  private readonly varyNames: readonly string[];

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly reads: ReadService,
    private readonly upstreams: Upstreams,
    private readonly held: HeldBytes,
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
    const { method } = request;
    if (!isReadMethod(method)) throw new Error(`${method} came to the route of reads`);
    context.live = upstream.protocol.liveModeOf(query);
    const rules = this.begin(request, response, upstream, query);
    const call = new ProxyCall(upstream, rules.requestTarget, request, context);
    this.reads.answer(call, response, rules, onRefused);
  }

  /**
   * Forwards any other request that has been admitted, perhaps with a body, to an answer of its own with one reader. Resolves
   * when the response is closed. Rejects with a `GatewayError` or `ClientGone` until the response has begun.
   */
  async forward(
    request: ClientRequest,
    response: ServerResponse,
    upstream: Upstream,
  ): Promise<void> {
    const { held } = this;
    const context = requestContext(request);
    const rules = this.begin(request, response, upstream, context.query);
    const call = new ProxyCall(upstream, rules.requestTarget, request, context);
    call.body = await outgoingBody(request, response, this.config.maxBodyBytes, held);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const client = new ClientAnswer(response, context, rules, held);
    const reader = new Reader(call, client, () => resolve(), reject);
    response.once('close', () => reader.onClosed());
    SharedAnswer.sendApart(reader, held);
    return promise;
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
