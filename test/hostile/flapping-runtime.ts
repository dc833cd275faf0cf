import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ACCEPTED } from '../support/runtime.ts';

/** What it does with a connection or a request. */
export type Mood =
  | 'accepts'
  | 'is slow'
  | 'hangs'
  | 'resets connections'
  | 'resets requests'
  | 'cuts'
  | '503'
  | '404';

/** A runtime whose mood changes, and which does not listen all the time. */
export class FlappingRuntime {
  mood: Mood = 'accepts';
  /** How often each entity's command arrived whole. */
  readonly arrivals = new Map<string, number>();
  readonly accepted = new Set<string>();
  private server: Server | undefined;
  private readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  async listen(): Promise<void> {
    if (this.server) return;
    this.server = createServer((request, response) => {
      request.on('error', () => undefined);
      request.resume().once('end', () => this.answer(request, response));
    });
    this.server.on('connection', (socket) => {
      if (this.mood === 'resets connections') socket.resetAndDestroy();
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.close().closeAllConnections();
    await once(server, 'close');
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const id = request.url?.split('/')[2] ?? '';
    this.arrivals.set(id, (this.arrivals.get(id) ?? 0) + 1);
    const accept = (): void => {
      this.accepted.add(id);
      response.writeHead(202).end(ACCEPTED);
    };
    switch (this.mood) {
      case 'accepts':
        return accept();
      case 'is slow':
        setTimeout(accept, 900).unref();
        return undefined;
      case 'resets requests':
        request.socket.resetAndDestroy();
        return undefined;
      case 'cuts':
        request.socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 99\r\n\r\n{');
        return undefined;
      case '503':
      case '404':
        response.writeHead(Number(this.mood)).end('{}');
        return undefined;
      default:
        return undefined;
    }
  }
}
