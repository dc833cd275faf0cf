import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of the public port and what is under way on each. Node's own `closeIdleConnections`
 * leaves those alone that never sent a request, and so does `close` (seen on Node 24).
 */
export class Connections {
  /** Requests under way, by connection. */
  private readonly open = new Map<Socket, Set<ServerResponse>>();
  private closesIdle = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.open.set(socket, new Set());
      socket.once('close', () => this.open.delete(socket));
    });
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // Before the application, which may answer at once.
      server.prependListener(event, this.follow);
    }
  }

  get count(): number {
    return this.open.size;
  }

  /** Tells every client whose answer has not begun, that the connection ends behind it. */
  announceClose(): void {
    for (const responses of this.open.values()) {
      for (const response of responses) announceClose(response);
    }
  }

  /** Closes every connection with nothing under way, now and as soon as that is so. */
  closeIdle(): void {
    this.closesIdle = true;
    for (const [socket, responses] of this.open) {
      if (responses.size === 0) socket.destroySoon();
    }
  }

  /** Breaks off whatever is still there. */
  destroyAll(): void {
    for (const socket of this.open.keys()) socket.destroy();
  }

  private readonly follow = (request: IncomingMessage, response: ServerResponse): void => {
    const responses = this.open.get(request.socket);
    if (!responses) return;
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      if (this.closesIdle && responses.size === 0) request.socket.destroySoon();
    });
  };
}

export function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
