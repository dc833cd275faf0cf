import type { ClientRequest, IncomingMessage } from 'node:http';
import type { GatewayError } from '../errors/gateway-error.ts';
import { ClientGone } from '../request/client-gone.ts';
import type { UpstreamCall } from './http-proxy-engine.ts';
import {
  invalidUpstreamResponse,
  upstreamError,
  upstreamTimeout,
} from '../upstream/upstream-failure.ts';
import { answerProblem } from '../upstream/usable-answer.ts';
import { inDoubt } from '../upstream/write-doubt.ts';

/**
 * A kept connection that the upstream had closed in the meantime: nothing was answered, and the
 * request may be sent again.
 */
export class StaleConnection extends Error {}

/** RFC 9110 §9.2.2; a POST may have been acted on although its connection broke. */
const REPEATABLE_METHODS: ReadonlySet<string | undefined> = new Set([
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
]);

/** One attempt at a request: the time between its sending and its answer's headers. */
export class Exchange {
  private readonly call: UpstreamCall;
  private readonly resolve: (answer: IncomingMessage) => void;
  private readonly reject: (error: Error) => void;
  private readonly timeoutMs: number;
  private readonly timer: NodeJS.Timeout;
  private upstreamRequest: ClientRequest | undefined;
  private upstreamAnswer: IncomingMessage | undefined;
  private bytesReadBefore = 0;
  private bytesWrittenBefore = 0;
  private settled = false;
  /** Whether the upstream may have any of it. */
  private mayHaveArrived: boolean;

  /**
   * `timeoutMs` is the time to the answer's headers, from when all of the request was sent; `isResent`
   * tells of an attempt before, whose connection was lost.
   */
  constructor(
    call: UpstreamCall,
    timeoutMs: number,
    isResent: boolean,
    resolve: (answer: IncomingMessage) => void,
    reject: (error: Error) => void,
  ) {
    this.call = call;
    this.resolve = resolve;
    this.reject = reject;
    this.timeoutMs = timeoutMs;
    this.mayHaveArrived = isResent;
    call.signal.addEventListener('abort', this.onAbort);
    call.response.once('close', this.onClientGone);
    this.timer = setTimeout(() => this.onTimeout(), timeoutMs);
  }

  /** The request has its connection; its headers are not rendered before this. */
  begin(upstreamRequest: ClientRequest): void {
    this.upstreamRequest = upstreamRequest;
    this.bytesReadBefore = upstreamRequest.socket?.bytesRead ?? 0;
    // The package drops a lone "?".
    upstreamRequest.path = this.call.target;
    if (this.settled) {
      upstreamRequest.destroy();
      return;
    }
    this.watchConnect(upstreamRequest);
    // Node ends a request whose answer is a switch of protocols (101) without a word.
    upstreamRequest.once('close', () => this.cancel(this.doubted(invalidUpstreamResponse())));
    const { body } = this.call;
    if (!body) return;
    // Its headers go at once: the upstream must not close the connection as an idle one meanwhile.
    upstreamRequest.write('', 'latin1');
    upstreamRequest.once('finish', () => !this.settled && this.timer.refresh());
    // An answer can be there before all of the body is: the rest has to leave the client's connection.
    upstreamRequest.once('close', () => body.unpipe().resume());
  }

  answer(answer: IncomingMessage): void {
    if (this.settled) {
      answer.destroy();
      return;
    }
    const { statusCode = 0, headers } = answer;
    const header = (name: string): string | undefined => headers[name]?.toString();
    const problem = answerProblem(this.call.upstream, statusCode, header);
    if (problem) {
      // Refused, nothing is made.
      this.cancel(statusCode === 401 || statusCode === 403 ? problem : this.doubted(problem));
      return;
    }
    this.upstreamAnswer = answer;
    this.settle(() => this.resolve(answer));
  }

  fail(error: Error): void {
    // Node takes a reset for the end of a body that only the connection's end delimits.
    if (this.upstreamAnswer && !this.upstreamAnswer.complete) this.upstreamAnswer.destroy(error);
    this.settle(() => this.reject(this.isStale(error) ? new StaleConnection() : this.map(error)));
  }

  private map(error: Error): Error {
    return this.doubted(upstreamError(error, this.bytesRead > this.bytesReadBefore));
  }

  private doubted(error: GatewayError): GatewayError {
    const { upstream, client } = this.call;
    return this.mayHaveArrived ? inDoubt(error, upstream, client.method) : error;
  }

  private watchConnect(upstreamRequest: ClientRequest): void {
    const { socket } = upstreamRequest;
    const onConnect = (): void => {
      this.mayHaveArrived = true;
    };
    if (!socket?.connecting) onConnect();
    else
      socket.once(
        this.call.upstream.base.protocol === 'https:' ? 'secureConnect' : 'connect',
        onConnect,
      );
  }

  private get bytesRead(): number {
    return this.upstreamRequest?.socket?.bytesRead ?? 0;
  }

  private isStale(error: NodeJS.ErrnoException): boolean {
    return (
      this.upstreamRequest?.reusedSocket === true &&
      (error.code === 'ECONNRESET' || error.code === 'EPIPE') &&
      this.bytesRead === this.bytesReadBefore &&
      this.call.body === undefined &&
      REPEATABLE_METHODS.has(this.call.client.method)
    );
  }

  private onTimeout(): void {
    if (this.isSending()) this.timer.refresh();
    else this.cancel(this.doubted(upstreamTimeout(this.call.timeoutMs)));
  }

  /** Whether the body is still on its way and it is not the upstream that holds it up. */
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
