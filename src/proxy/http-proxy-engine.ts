import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import httpProxy from 'http-proxy';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { ClientGone } from './client-gone.ts';
import type { UpstreamHeaders } from './request-headers.ts';
import { upstreamError, upstreamTimeout } from './upstream-error.ts';
import type { Upstream } from './upstreams.ts';

/** One request to an upstream, all decided: nothing of the client's request is looked at again. */
export interface UpstreamCall {
  client: IncomingMessage;
  response: ServerResponse;
  upstream: Upstream;
  /** Path and query as they are sent. */
  target: string;
  headers: UpstreamHeaders;
  body: Readable | undefined;
  /** To the response headers, in milliseconds. */
  timeoutMs: number;
  /** Aborted with the `GatewayError` to answer instead. */
  signal: AbortSignal;
}

/**
 * Sends a request with `http-proxy` and hands back the upstream's answer, body unread.
 *
 * The package gets a stand-in for the client's request that holds just what is to be sent: given the
 * request itself it would pass on every header, re-encode the query and send a chunked DELETE with
 * `Content-Length: 0`, which makes a second request of its body.
 */
@Injectable()
export class HttpProxyEngine {
  private readonly proxy = httpProxy.createProxyServer();
  private readonly exchanges = new WeakMap<object, Exchange>();

  constructor(@InjectConfig() private readonly config: GatewayConfig) {
    this.proxy.on('proxyReq', (upstreamRequest, standIn) => {
      this.exchanges.get(standIn)?.begin(upstreamRequest);
    });
    this.proxy.on('proxyRes', (answer, standIn) => {
      this.exchanges.get(standIn)?.answer(answer);
    });
  }

  /** Resolves with the answer's headers. Rejects with a `GatewayError`, or `ClientGone`. */
  send(call: UpstreamCall): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { client, response, upstream } = call;
      const standIn = {
        method: client.method,
        url: call.target,
        headers: call.headers,
        httpVersionMajor: 1,
        socket: client.socket,
        on: (event: string, listener: (...args: unknown[]) => void) => client.on(event, listener),
      } as unknown as IncomingMessage;
      const exchange = new Exchange(call, resolve, reject);
      this.exchanges.set(standIn, exchange);
      this.proxy.web(
        standIn,
        response,
        {
          target: upstream.base,
          agent: upstream.agent,
          buffer: call.body ?? Readable.from([]),
          connectTimeout: this.config.timeouts.connectMs,
          prependPath: false,
          toProxy: true,
          selfHandleResponse: true,
        },
        (error: Error) => exchange.fail(error),
      );
    });
  }
}

/** The time between a request's sending and its answer's headers. */
class Exchange {
  private upstreamRequest: ClientRequest | undefined;
  private bytesReadBefore = 0;
  private timer: NodeJS.Timeout | undefined;
  private settled = false;

  constructor(
    private readonly call: UpstreamCall,
    private readonly resolve: (answer: IncomingMessage) => void,
    private readonly reject: (error: Error) => void,
  ) {
    call.signal.addEventListener('abort', this.onAbort);
    call.response.once('close', this.onClientGone);
    this.armTimer();
  }

  begin(upstreamRequest: ClientRequest): void {
    this.upstreamRequest = upstreamRequest;
    this.bytesReadBefore = upstreamRequest.socket?.bytesRead ?? 0;
    // The package drops a lone "?"; headers are not rendered before this event.
    upstreamRequest.path = this.call.target;
    if (this.settled) upstreamRequest.destroy();
  }

  answer(answer: IncomingMessage): void {
    if (this.settled) answer.destroy();
    else this.settle(() => this.resolve(answer));
  }

  fail(error: Error): void {
    const bytesRead = this.upstreamRequest?.socket?.bytesRead ?? 0;
    this.settle(() => this.reject(upstreamError(error, bytesRead > this.bytesReadBefore)));
  }

  /** The upstream's time to answer. While it waits for a slow client's body, it is not running. */
  private armTimer(): void {
    const { timeoutMs, body } = this.call;
    this.timer = setTimeout(() => {
      const waitsForClient =
        body !== undefined && !body.readableEnded && !this.upstreamRequest?.writableNeedDrain;
      if (waitsForClient && this.upstreamRequest?.socket?.connecting === false) this.armTimer();
      else this.cancel(upstreamTimeout(timeoutMs));
    }, timeoutMs);
  }

  private readonly onAbort = (): void => this.cancel(this.call.signal.reason as Error);
  private readonly onClientGone = (): void => this.cancel(new ClientGone());

  private cancel(error: Error): void {
    this.settle(() => this.reject(error));
    this.upstreamRequest?.destroy();
  }

  private settle(finish: () => void): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.call.signal.removeEventListener('abort', this.onAbort);
    this.call.response.off('close', this.onClientGone);
    finish();
  }
}
