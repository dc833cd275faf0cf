import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Answers under way, in the order of their requests: a client may send several at once. */
  responses: ServerResponse[];
  /** What had come when its last answer ended; more than that is the next request's beginning. */
  bytesRead: number;
}

/** What came from clients and what went to them. */
export interface NetworkBytes {
  received: number;
  sent: number;
}

/**
 * The connections of the public port and what is under way on each. Node's own `closeIdleConnections`
 * leaves those alone that never sent a request, and so does `close` (seen on Node 24).
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private acceptedCount = 0;
  /** Of connections that are closed. */
  private readonly closedBytes: NetworkBytes = { received: 0, sent: 0 };
  private announces = false;
  private closesIdle = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.acceptedCount++;
      this.open.set(socket, { responses: [], bytesRead: 0 });
      socket.once('close', () => {
        this.open.delete(socket);
        addBytes(this.closedBytes, socket);
      });
    });
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // Before the application, which may answer at once.
      server.prependListener(event, this.follow);
    }
  }

  /** Connections open just now. */
  get count(): number {
    return this.open.size;
  }

  /** Connections that were ever opened. */
  get accepted(): number {
    return this.acceptedCount;
  }

  /** All bytes so far, heads included; looks at every open connection. */
  bytes(): NetworkBytes {
    const total = { ...this.closedBytes };
    for (const socket of this.open.keys()) addBytes(total, socket);
    return total;
  }

  /** Tells every client whose answer has not begun, now and from now on, that its connection ends. */
  announceClose(): void {
    this.announces = true;
    for (const { responses } of this.open.values()) announceOnLast(responses);
  }

  /** Closes every connection with nothing under way, now and as soon as that is so. */
  closeIdle(): void {
    this.closesIdle = true;
    for (const [socket, connection] of this.open) this.closeIfIdle(socket, connection);
  }

  /** Breaks off whatever is still there. */
  destroyAll(): void {
    for (const socket of this.open.keys()) socket.destroy();
  }

  private readonly follow = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.responses.push(response);
    if (this.announces) announceOnLast(connection.responses);
    response.on('close', () => {
      connection.responses.splice(connection.responses.indexOf(response), 1);
      connection.bytesRead = socket.bytesRead;
      if (this.closesIdle) this.closeIfIdle(socket, connection);
    });
  };

  /** A request whose head is still coming is let come: its client would see it broken off. */
  private closeIfIdle(socket: Socket, { responses, bytesRead }: Connection): void {
    if (responses.length === 0 && socket.bytesRead <= bytesRead) socket.destroySoon();
  }
}

/** Node ends a connection behind the first answer that says so, and with it all that come later. */
function announceOnLast(responses: readonly ServerResponse[]): void {
  const last = responses.at(-1);
  for (const response of responses) {
    if (!response.headersSent) {
      response.setHeader('Connection', response === last ? 'close' : 'keep-alive');
    }
  }
}

function addBytes(total: NetworkBytes, { bytesRead, bytesWritten }: Socket): void {
  total.received += bytesRead;
  // Of a socket that was destroyed before it was set up Node gives undefined.
  total.sent += bytesWritten || 0;
}
