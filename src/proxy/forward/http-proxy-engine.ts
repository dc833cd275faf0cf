import type { Agent, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import httpProxy from 'http-proxy';
import { InjectConfig, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import { ForwardAttempt, StaleConnection } from './forward-attempt.ts';
import type { HeaderObject } from '../../platform/http/header-list.ts';
import type { ProxiedUpstream } from '../upstream/upstreams.ts';

/** One request to an upstream, completely prepared. The client's request is not read again. */
export interface EngineCall {
  client: IncomingMessage;
  response: ServerResponse;
  upstream: ProxiedUpstream;
  /** The path and query of the upstream request. */
  target: string;
  headers: HeaderObject;
  body: Readable | undefined;
  /** The time to the response headers in milliseconds. */
  timeoutMs: number;
  /** Called before it is sent again. The headers may be changed then. */
  onResend(): void;
}

/**
 * Sends a request with `http-proxy` and returns the upstream's response with its body unread.
 *
 * The package gets a substitute for the client's request that has only what must be sent. With the request itself
 * it would pass on every header, re-encode the query, and send a chunked DELETE with `Content-Length: 0`, which
 * makes a second request of its body.
 */
@Injectable()
export class HttpProxyEngine {
  private readonly proxy = httpProxy.createProxyServer();
  private readonly attempts = new WeakMap<object, ForwardAttempt>();

  constructor(@InjectConfig() private readonly config: GatewayConfig) {
    this.proxy.on('proxyReq', (upstreamRequest, standIn) => {
      this.attempts.get(standIn)?.begin(upstreamRequest);
    });
    this.proxy.on('proxyRes', (answer, standIn) => {
      this.attempts.get(standIn)?.answer(answer);
    });
  }

  /** Resolves with the response headers. Rejects with a `GatewayError` or `ClientGone`. */
  async send(call: EngineCall): Promise<IncomingMessage> {
    const startedAtMs = performance.now();
    try {
      return await this.attempt(call, call.upstream.agent, call.timeoutMs, false);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      call.onResend();
      // Without an agent it gets a new connection, because other connections of the pool may be closed too.
      const leftMs = call.timeoutMs - (performance.now() - startedAtMs);
      return await this.attempt(call, undefined, Math.max(1, leftMs), true);
    }
  }

  private attempt(
    call: EngineCall,
    agent: Agent | undefined,
    timeoutMs: number,
    isResent: boolean,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const standIn = standInFor(call);
      const attempt = new ForwardAttempt(call, timeoutMs, isResent, resolve, reject);
      this.attempts.set(standIn, attempt);
      this.proxy.web(
        standIn,
        call.response,
        {
          target: call.upstream.base,
          agent,
          buffer: call.body ?? Readable.from([]),
          connectTimeout: this.config.timeouts.connectMs,
          prependPath: false,
          toProxy: true,
          selfHandleResponse: true,
        },
        (error: Error) => attempt.fail(error),
      );
    });
  }
}

/** The part of a client's request that `http-proxy` reads. A disconnect of the client shows on the response. */
function standInFor({ client, target, headers }: EngineCall): IncomingMessage {
  const standIn = {
    method: client.method,
    url: target,
    headers,
    httpVersionMajor: 1,
    socket: client.socket,
    on: () => standIn,
  };
  return standIn as unknown as IncomingMessage;
}
