import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openSocket } from '../support/open-socket.ts';

const STATUS = 'HTTP/1.1 404 ';

/** A connection on which the same request, which nobody serves, is sent again and again. */
export class Pipeline {
  private readonly socket: Socket;
  private readonly request: string;
  private answered = 0;

  private constructor(socket: Socket, request: string) {
    this.socket = socket;
    this.request = request;
    let rest = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const parts = (rest + chunk).split(STATUS);
      this.answered += parts.length - 1;
      // What may be the beginning of the next status line.
      rest = parts.at(-1)!.slice(1 - STATUS.length);
      socket.emit('answered');
    });
    socket.once('end', () => {
      socket.destroy(new Error(`the gateway hung up after ${this.answered} answers`));
    });
  }

  static async open(port: number, request: string): Promise<Pipeline> {
    return new Pipeline(await openSocket(port), request);
  }

  /** Sends so many requests, a few at a time, and waits for the answers of each few. */
  async send(count: number, atOnce: number): Promise<void> {
    const batch = this.request.repeat(atOnce);
    for (const end = this.answered + count; this.answered < end;) {
      const next = this.answered + atOnce;
      this.socket.write(batch);
      while (this.answered < next) await once(this.socket, 'answered');
    }
  }

  close(): void {
    this.socket.destroy();
  }
}
