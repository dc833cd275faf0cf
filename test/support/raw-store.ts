import { createServer, type Socket } from 'node:net';
import { comes } from './fake-time.ts';
import { listening } from './listening.ts';

/** A request as it came. The test writes the response itself. */
export class RawRequest {
  readonly method: string;
  readonly target: string;
  readonly head: string;
  readonly socket: Socket;
  body = '';
  isClosed = false;
  readonly bodyLength: number;

  constructor(head: string, socket: Socket) {
    const [method = '', target = ''] = head.split(' ', 2);
    this.head = head;
    this.method = method;
    this.target = target;
    this.socket = socket;
    this.bodyLength = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    socket.once('close', () => (this.isClosed = true));
  }

  answer(body = 'ok', head = '200 OK'): void {
    this.write(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }
}

/** A TCP server that shows each request to a test, which works in fake time. */
export interface RawStore {
  port: number;
  /** All so far, as soon as the head is there. */
  readonly requests: readonly RawRequest[];
  /** How many connections it has accepted so far. */
  readonly accepted: number;
  /** Waits for the first, second, … request. */
  nth(number: number): Promise<RawRequest>;
  stop(): Promise<void>;
}

export async function startRawStore(host?: string): Promise<RawStore> {
  const requests: RawRequest[] = [];
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    let rest = '';
    let current: RawRequest | undefined;
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (text: string) => {
      rest += text;
      while (rest !== '') {
        const missing = current ? current.bodyLength - current.body.length : 0;
        if (current && missing > 0) {
          current.body += rest.slice(0, missing);
          rest = rest.slice(missing);
          continue;
        }
        const headEnd = rest.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        requests.push((current = new RawRequest(rest.slice(0, headEnd), socket)));
        rest = rest.slice(headEnd + 4);
      }
    });
  });
  const { port, stop } = await listening(server, 0, host);
  return {
    port,
    requests,
    get accepted() {
      return accepted;
    },
    nth: async (number) => {
      await comes(`request ${number}`, () => requests.length >= number);
      return requests[number - 1] as RawRequest;
    },
    stop,
  };
}
