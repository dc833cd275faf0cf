import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

export interface ReaderOptions {
  port: number;
  credential: string;
  /** The target of a reader by its number; long-polls ask for it again and again. */
  target: (index: number) => string;
  live: 'long-poll' | 'sse';
}

const STATES = ['asking', 'waiting', 'refused', 'gone'] as const;
type State = (typeof STATES)[number];

/** Many lightweight readers, each on a connection of its own. */
export class Readers {
  /** Events that all of them have got together. */
  events = 0;
  readonly statuses = new Map<number, number>();
  private readonly options: ReaderOptions;
  private readonly readers: { socket: Socket; state: State }[] = [];
  private readonly changes = new Changes();

  constructor(options: ReaderOptions) {
    this.options = options;
  }

  count(state: State): number {
    return this.readers.filter((reader) => reader.state === state).length;
  }

  /** Begins so many more reads, a number of them at a time. */
  async add(count: number, atOnce = 200): Promise<void> {
    for (let left = count; left > 0; left -= atOnce) {
      const begun = Array.from({ length: Math.min(left, atOnce) }, () => this.begin());
      await Promise.all(begun.map((socket) => once(socket, 'connect').catch(() => undefined)));
    }
  }

  /** Resolves once this holds; asked after every answer. After a minute it rejects with an error that says what they do. */
  until(isSo: () => boolean): Promise<void> {
    return awaited(() => this.toString(), this.changes.until(isSo));
  }

  toString(): string {
    const states = STATES.map((state) => `${this.count(state)} ${state}`).join(', ');
    const refusals = [...this.statuses].map(([status, count]) => `${count} with ${status}`);
    return `readers: ${states}; refused: ${refusals.join(', ') || 'none'}; events: ${this.events}`;
  }

  /** Nobody reads what comes any more. */
  pause(): void {
    for (const { socket } of this.readers) socket.pause();
  }

  stop(): void {
    for (const { socket } of this.readers.splice(0)) socket.destroy();
  }

  private begin(): Socket {
    const { port, credential, live } = this.options;
    const index = this.readers.length;
    const request = `GET ${this.options.target(index)} HTTP/1.1\r\nHost: g\r\nAuthorization: ${credential}\r\n\r\n`;
    const socket = connect({ port, host: '127.0.0.1' });
    const reader = { socket, state: 'asking' as State };
    this.readers.push(reader);
    let text = '';
    const change = (state: State): void => {
      reader.state = state;
      this.changes.tell();
    };
    socket.on('connect', () => socket.write(request));
    socket.on('error', () => undefined);
    socket.on('close', () => change(reader.state === 'refused' ? 'refused' : 'gone'));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (reader.state === 'asking' || live === 'long-poll') {
        const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
        if (!/\r\n\r\n/.test(text)) return;
        if (status !== 200) {
          this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
          change('refused');
          socket.destroy();
          return;
        }
      }
      if (live === 'sse') {
        const events = text.split('event: control\n').length - 1;
        this.events += events;
        // What may be the beginning of the next one.
        text = events > 0 ? '' : text.slice(-20);
        change('waiting');
        return;
      }
      const [head = '', body = ''] = text.split('\r\n\r\n', 2);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body.length < length) return;
      text = '';
      this.events++;
      change('waiting');
      socket.write(request);
    });
    return socket;
  }
}
