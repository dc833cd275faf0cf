// Uses: `HTTPParser` of `node:_http_common`, which Node exports only for its own server and client. Gain, measured:
// with undici 8.12 instead, a plain read takes a fifth more processor time, and a parked one a quarter more memory.
// When it breaks: `start-check.ts` stops the start. Compare with `lib/_http_client.js` of that Node, or send requests
// with undici behind `Upstream.exchange`.

import { HTTPParser } from 'node:_http_common';
import type { HeaderList } from '../http/header-list.ts';

/** The most bytes of a response head. Node's parser fails with `HPE_HEADER_OVERFLOW` for a longer one. */
export const MAX_HEAD_BYTES = 65_536;

/** Observes a response while its bytes are parsed. */
export interface AnswerListener {
  /** The final head, not an informational one (RFC 9110 §15.2). */
  onHead(statusCode: number, headers: HeaderList): void;
  onBody(chunk: Buffer): void;
}

/**
 * Parses the responses of one connection one after the other, with Node's built-in llhttp. So the gateway finds the
 * end of a response, and its errors, by the same rules as Node's server and client.
 */
export class AnswerParser {
  /** The response is complete. */
  isComplete = false;
  /** Whether the head allows another read on the connection. */
  keepsOpen = false;
  /** Bytes arrived after the response, without a request for them. */
  hasExcess = false;
  private readonly listener: AnswerListener;
  private readonly parser = new HTTPParser();
  private isForHead = false;
  private isInforming = false;
  private hasHead = false;
  /** The headers so far of a long head, which Node delivers in pieces. */
  private further: HeaderList = [];
  private failure: Error | undefined;

  constructor(listener: AnswerListener) {
    this.listener = listener;
    const { parser } = this;
    parser.initialize(HTTPParser.RESPONSE, this, MAX_HEAD_BYTES);
    parser[HTTPParser.kOnMessageBegin] = () => this.onBegin();
    parser[HTTPParser.kOnHeaders] = (headers: HeaderList) => this.onFurtherHeaders(headers);
    parser[HTTPParser.kOnHeadersComplete] = (...head: CompleteHead) => this.onHead(head);
    parser[HTTPParser.kOnBody] = (chunk: Buffer) => this.onBody(chunk);
    parser[HTTPParser.kOnMessageComplete] = () => this.onEnd();
  }

  /** The head has arrived, and the body is not complete yet. */
  get isInBody(): boolean {
    return this.hasHead && !this.isComplete;
  }

  /** Prepares for the response to a method. One to HEAD has no body, whatever its head says. */
  expect(method: string): void {
    this.isForHead = method === 'HEAD';
    this.isComplete = false;
    this.keepsOpen = false;
    this.hasHead = false;
  }

  /**
   * Parses bytes and calls the listener. If they are not a response, returns the reason with Node's code (`HPE_*`).
   */
  parse(bytes: Uint8Array): Error | undefined {
    const parsed = this.parser.execute(bytes);
    return typeof parsed === 'number' ? this.failure : parsed;
  }

  /** Notes the end of the connection: it completes a response that lasts until then, or cuts any other one. */
  finish(): Error | undefined {
    return this.parser.finish();
  }

  /** Frees its memory. Must not be called while it parses. */
  close(): void {
    this.parser.close();
  }

  private onBegin(): void {
    if (this.isComplete) this.hasExcess = true;
  }

  private onFurtherHeaders(headers: HeaderList): void {
    // After the head they are trailers, which are not forwarded.
    if (!this.hasHead) this.further.push(...headers);
  }

  /** What Node's parser should do with the body. 1 means that there is none. */
  private onHead(head: CompleteHead): number {
    const statusCode = head[5];
    const headers = this.further.length > 0 ? this.further.concat(head[2] ?? []) : (head[2] ?? []);
    this.further = [];
    this.isInforming = statusCode >= 100 && statusCode < 200;
    if (statusCode === SWITCHING_PROTOCOLS) {
      this.failure = new Error('the upstream changed the protocol, which it was not asked for');
    } else if (!this.isInforming && !this.isComplete) {
      this.hasHead = true;
      this.keepsOpen = head[8];
      this.listener.onHead(statusCode, headers);
    }
    return this.isForHead ? 1 : 0;
  }

  private onBody(chunk: Buffer): void {
    if (!this.isComplete) this.listener.onBody(chunk);
  }

  private onEnd(): void {
    if (!this.isInforming) this.isComplete = true;
  }
}

const SWITCHING_PROTOCOLS = 101;

/** Node's callback. A response has neither method nor target. The last headers of a long head come separately. */
type CompleteHead = [
  versionMajor: number,
  versionMinor: number,
  headers: HeaderList | undefined,
  method: undefined,
  target: undefined,
  statusCode: number,
  statusMessage: string,
  isUpgrade: boolean,
  keepsOpen: boolean,
];
