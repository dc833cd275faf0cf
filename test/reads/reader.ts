import { once } from 'node:events';
import {
  request,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { Socket } from 'node:net';
import { Changes } from '../support/changes.ts';
import { AUTHORIZED } from '../support/credentials.ts';

export interface ReadOptions {
  /** Beside the API key, which one of these may replace; as a list, all of them, name by value. */
  headers?: Record<string, string | string[]> | readonly string[];
  method?: 'GET' | 'HEAD';
}

/** A response, complete or not. */
export interface Answer {
  /** 0 where none began. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Whether it ended in order, and not broken off. */
  isWhole: boolean;
}

/** One read on a connection of its own. */
export class Reader {
  /** Resolves with all there is of the answer once it has ended, in whatever way. */
  readonly ended: Promise<Answer>;
  readonly answer: Answer = { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false };
  private readonly request: ClientRequest;
  private response: IncomingMessage | undefined;
  private readonly pieces: Buffer[] = [];
  private readonly changes = new Changes();
  private isOver = false;
  private isPaused = false;

  constructor(url: string, { headers = {}, method = 'GET' }: ReadOptions) {
    const all = isList(headers) ? [...headers] : { ...AUTHORIZED, ...headers };
    this.request = request(url, { method, agent: false, headers: all });
    this.request.on('error', () => undefined);
    this.request.once('response', (response) => this.take(response));
    this.ended = new Promise((resolve) => {
      this.request.once('close', () => {
        this.answer.body = Buffer.concat(this.pieces);
        this.isOver = true;
        this.changes.tell();
        resolve(this.answer);
      });
    });
    this.request.end();
  }

  /** Resolves once the request is with the system. */
  async sent(): Promise<void> {
    const socket = this.request.socket ?? ((await once(this.request, 'socket')) as [Socket])[0];
    if (socket.connecting) await once(socket, 'connect');
    await new Promise((resolve) => socket.write('', resolve));
  }

  /** Resolves with the status once the answer has begun; with 0 if it ended before. */
  async begun(): Promise<number> {
    await this.until(() => this.answer.status !== 0);
    return this.answer.status;
  }

  /** Resolves with the text so far once it holds these words, or the answer has ended. */
  async untilText(words: string): Promise<string> {
    let text = '';
    let pieces = 0;
    await this.until(() => {
      const from = Math.max(0, text.length - words.length);
      while (pieces < this.pieces.length) text += this.pieces[pieces++]?.toString('latin1');
      return text.includes(words, from);
    });
    return text;
  }

  /** Takes nothing more from the network, but for what the system holds, until `goOn`. */
  pause(): void {
    this.isPaused = true;
    this.response?.pause();
  }

  goOn(): void {
    this.isPaused = false;
    this.response?.resume();
  }

  leave(): void {
    this.request.destroy();
  }

  private take(response: IncomingMessage): void {
    this.response = response;
    this.answer.status = response.statusCode ?? 0;
    this.answer.headers = response.headers;
    response.on('error', () => undefined);
    response.on('data', (piece: Buffer) => {
      this.pieces.push(piece);
      this.changes.tell();
    });
    if (this.isPaused) response.pause();
    response.once('close', () => (this.answer.isWhole = response.complete));
    this.changes.tell();
  }

  private until(isThere: () => boolean): Promise<void> {
    return this.changes.until(() => isThere() || this.isOver);
  }
}

function isList(headers: NonNullable<ReadOptions['headers']>): headers is readonly string[] {
  return Array.isArray(headers);
}
