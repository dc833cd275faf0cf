// Takes: `HTTPParser` of `node:_http_common`, which Node exports for its own server and client alone.
// Brings: with undici 8.12 instead, a plain read takes a fifth more processor time, and a parked one a quarter more
// memory, measured.
// When it breaks: `start-check.ts` stops the start. See how `lib/_http_client.js` of that Node calls its parser; or send
// reads with undici, as commands are, behind `ReadConnection`.

import { HTTPParser } from 'node:_http_common';
import type { HeaderList } from '../http/header-list.ts';

/** The head of an answer with all its names and values, in bytes; Node answers for more with an error. */
const MAX_HEAD_BYTES = 16_384;

/** Observes a response while its bytes are parsed. */
export interface AnswerListener {
  /** The head that counts: not one of those that only inform (RFC 9110 §15.2). */
  onHead(statusCode: number, headers: HeaderList): void;
  onBody(chunk: Buffer): void;
}

/**
 * Parses the answers that come on one connection, one after the other, with llhttp as Node has it built
 * in: what tells where an answer ends, and what is none, is the same that Node's own server and client
 * judge by.
 */
export class AnswerParser {
  /** The answer is there to its end. */
  isComplete = false;
  /** By its head the connection may serve another read. */
  keepsOpen = false;
  /** Bytes arrived after the response, without a request for them. */
  hasExcess = false;
  private readonly listener: AnswerListener;
  private readonly parser = new HTTPParser();
  private isForHead = false;
  private isInforming = false;
  private hasHead = false;
  /** Headers of a head so long that Node hands it over in pieces. */
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

  /** The head is there, and not yet all of the body. */
  get isInBody(): boolean {
    return this.hasHead && !this.isComplete;
  }

  /** The next answer will be one to a GET, or to a HEAD, which has no body whatever its head says. */
  expect(method: 'GET' | 'HEAD'): void {
    this.isForHead = method === 'HEAD';
    this.isComplete = false;
    this.keepsOpen = false;
    this.hasHead = false;
  }

  /** Calls the listener. Returns why the bytes are no answer, with Node's code (`HPE_*`). */
  parse(bytes: Uint8Array): Error | undefined {
    const parsed = this.parser.execute(bytes);
    return typeof parsed === 'number' ? this.failure : parsed;
  }

  /** The connection has ended: completes an answer that lasts until then, or tells that it is cut. */
  finish(): Error | undefined {
    return this.parser.finish();
  }

  /** Gives its memory back; not while it parses. */
  close(): void {
    this.parser.close();
  }

  private onBegin(): void {
    if (this.isComplete) this.hasExcess = true;
  }

  private onFurtherHeaders(headers: HeaderList): void {
    // Behind the head they are trailers, which are not for the client.
    if (!this.hasHead) this.further.push(...headers);
  }

  /** What Node is to do with the body: 1 means that there is none. */
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

/** As Node calls back; an answer has neither method nor target. Of a long head the last headers come apart. */
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
