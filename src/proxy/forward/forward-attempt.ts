import type {
  Agent,
  ClientRequest as UpstreamRequest,
  IncomingMessage,
  ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import httpProxy from 'http-proxy';
import { AwakeTimer } from '../../platform/clock/awake-timer.ts';
import { ClientGone } from '../../platform/http/client-gone.ts';
import { ConnectTimeout } from '../upstream/connections/connection-errors.ts';
import { expectAnswer, refuseExcess } from '../upstream/connections/excess-bytes.ts';
import { bodyMayFollow } from '../upstream/connections/idle-time.ts';
import { isIdempotent, isStale, maySendAgain, type Reached } from '../upstream/send-again.ts';
import { upstreamError, type RequestFailure } from '../upstream/upstream-error.ts';
import { answerFault, RefusedCredential, UnusableAnswer } from '../upstream/usable-answer.ts';
import type { ClientRequest } from '../../platform/http/client-request.ts';
import type { HeaderObject } from '../../platform/http/header-list.ts';
import type { ProxiedUpstream } from '../upstream/upstreams.ts';

/** The upstream had already closed a kept connection. There was no response, and the request may be sent again. */
export class StaleConnection extends Error {}

/** A request to an upstream, completely prepared. The client's request is not read again. */
export interface ForwardedRequest {
  client: ClientRequest;
  response: ServerResponse;
  upstream: ProxiedUpstream;
  /** The path and query of the upstream request. */
  target: string;
  headers: HeaderObject;
  body: Readable | undefined;
}

export interface AttemptOptions {
  agent: Agent;
  connectMs: number;
  /** The time to the response headers, from when the whole request was sent. */
  timeoutMs: number;
  /** Whether an earlier attempt lost its connection. */
  isResent: boolean;
}

/**
 * One attempt at a request with `http-proxy`, from sending it to the response headers.
 *
 * The package gets a substitute for the client's request that has only what must be sent. From the request itself it
 * would copy every header, re-encode the query, and make the chunked body of a DELETE a second request by adding
 * `Content-Length: 0`. With each attempt it would add listeners to it. Its events `proxyReq` and `proxyRes` mark the stages
 * of the attempt. Of a reset it says nothing once the client has gone; then the response's `close` ends the attempt.
 */
export class ForwardAttempt {
  private readonly outcome = Promise.withResolvers<IncomingMessage>();
  /** The upstream's response with its body unread. Rejects with a `GatewayError`, `ClientGone` or `StaleConnection`. */
  readonly answer = this.outcome.promise;
  private readonly call: ForwardedRequest;
  private readonly timer: AwakeTimer;
  private upstreamRequest: UpstreamRequest | undefined;
  private upstreamAnswer: IncomingMessage | undefined;
  private bytesReadBefore = 0;
  private bytesWrittenBefore = 0;
  private settled = false;
  /** How far this attempt or an earlier one got before the first byte of a response. */
  private sentTo: 'nowhere' | 'sent';

  constructor(call: ForwardedRequest, { agent, connectMs, timeoutMs, isResent }: AttemptOptions) {
    this.call = call;
    this.sentTo = isResent ? 'sent' : 'nowhere';
    call.response.once('close', this.onClientGone);
    this.timer = new AwakeTimer(timeoutMs, () => this.onTimeout());
    this.send(agent, connectMs);
  }

  private send(agent: Agent, connectMs: number): void {
    const { call } = this;
    const proxy = httpProxy.createProxyServer({
      target: call.upstream.base,
      agent,
      buffer: call.body ?? Readable.from([]),
      prependPath: false,
      toProxy: true,
      selfHandleResponse: true,
    });
    proxy.on('proxyReq', (upstreamRequest) => this.onConnection(upstreamRequest, connectMs));
    proxy.on('proxyRes', (answer) => this.onAnswer(answer));
    try {
      proxy.web(standInFor(call), call.response, (error: Error) => this.onError(error));
    } catch (error) {
      // Node refuses to send such a request. Its timer must not reject later, when nobody has the promise any more.
      this.settle(() => this.outcome.reject(error as Error));
    }
  }

  /** The request has a connection. Its headers are not rendered before this. */
  private onConnection(upstreamRequest: UpstreamRequest, connectMs: number): void {
    this.upstreamRequest = upstreamRequest;
    if (upstreamRequest.socket) expectAnswer(upstreamRequest.socket);
    this.bytesReadBefore = upstreamRequest.socket?.bytesRead ?? 0;
    // The package would drop a lone "?".
    upstreamRequest.path = this.call.target;
    if (this.settled) {
      upstreamRequest.destroy();
      return;
    }
    this.watchConnect(upstreamRequest, connectMs);
    // Without this listener Node ends a request silently if the response switches protocols (101).
    upstreamRequest.once('close', () => {
      if (this.settled) return;
      const cause = new UnusableAnswer('the connection closed, or changed its protocol');
      this.cancel(this.toError({ reached: 'answered', cause }));
    });
    const { body } = this.call;
    if (!body) return;
    // The headers are sent at once, so that the upstream does not close the connection as idle.
    upstreamRequest.write('', 'latin1');
    upstreamRequest.once('finish', () => !this.settled && this.timer.restart());
    // A response can arrive before the whole body was sent. The rest of the body must be read from the client's
    // connection.
    upstreamRequest.once('close', () => body.unpipe().resume());
  }

  private onAnswer(answer: IncomingMessage): void {
    if (this.settled) {
      answer.destroy();
      return;
    }
    const { statusCode = 0, headers } = answer;
    const header = (name: string): string | undefined => headers[name]?.toString();
    const cause = answerFault(this.call.upstream, statusCode, header);
    if (cause) {
      const isRefused = cause instanceof RefusedCredential;
      this.cancel(this.toError({ reached: 'answered', cause, isRefused }));
      return;
    }
    // Node's agent then closes the connection after the response.
    if (this.upstreamRequest && bodyMayFollow(this.call.client.method, statusCode, header)) {
      this.upstreamRequest.shouldKeepAlive = false;
    }
    refuseExcess(answer);
    this.upstreamAnswer = answer;
    this.settle(() => this.outcome.resolve(answer));
  }

  private onError(error: Error): void {
    // Node treats a reset as the end of a body that only the end of the connection delimits.
    if (this.upstreamAnswer && !this.upstreamAnswer.complete) this.upstreamAnswer.destroy(error);
    const { reached } = this;
    this.settle(() =>
      this.outcome.reject(
        this.isToBeSentAgain(reached)
          ? new StaleConnection()
          : this.toError({ reached, cause: error }),
      ),
    );
  }

  private toError(failure: RequestFailure): Error {
    const { upstream, client, target } = this.call;
    return upstreamError({ upstream, method: client.method, target }, failure);
  }

  private watchConnect(upstreamRequest: UpstreamRequest, connectMs: number): void {
    const { socket } = upstreamRequest;
    if (!socket?.connecting) {
      this.sentTo = 'sent';
      return;
    }
    // The package's own `connectTimeout` counts pauses of the process.
    const timer = new AwakeTimer(connectMs, () => socket.destroy(new ConnectTimeout(connectMs)));
    const isTls = this.call.upstream.base.protocol === 'https:';
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      timer.stop();
      this.sentTo = 'sent';
    });
    socket.once('close', () => timer.stop());
  }

  private get bytesRead(): number {
    return this.upstreamRequest?.socket?.bytesRead ?? 0;
  }

  private get reached(): Reached {
    return this.bytesRead > this.bytesReadBefore ? 'answered' : this.sentTo;
  }

  private isToBeSentAgain(reached: Reached): boolean {
    const isRepeatable = this.call.body === undefined && isIdempotent(this.call.client.method);
    const wasKept = this.upstreamRequest?.reusedSocket === true;
    return isStale(reached, wasKept) && maySendAgain({ reached, isRepeatable });
  }

  private onTimeout(): void {
    if (this.isSending()) this.timer.restart();
    else
      this.cancel(this.toError({ reached: this.reached, timeoutMs: this.call.upstream.timeoutMs }));
  }

  /** Whether the body is still being sent, and the upstream does not hold it up. */
  private isSending(): boolean {
    const { body } = this.call;
    const socket = this.upstreamRequest?.socket;
    if (!body || !socket || socket.connecting || this.upstreamRequest?.writableFinished)
      return false;
    const bytesWritten = socket.bytesWritten - socket.writableLength;
    const moved = bytesWritten > this.bytesWrittenBefore;
    this.bytesWrittenBefore = bytesWritten;
    const waitsForClient = !body.readableEnded && !this.upstreamRequest?.writableNeedDrain;
    return moved || waitsForClient;
  }

  private readonly onClientGone = (): void => this.cancel(new ClientGone());

  private cancel(error: Error): void {
    this.settle(() => this.outcome.reject(error));
    this.upstreamRequest?.destroy();
  }

  private settle(finish: () => void): void {
    if (this.settled) return;
    this.settled = true;
    this.timer.stop();
    this.call.response.off('close', this.onClientGone);
    finish();
  }
}

/** The part of a client's request that `http-proxy` reads. A disconnect of the client shows on the response. */
function standInFor({ client, target, headers }: ForwardedRequest): IncomingMessage {
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
