import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { resetConnection } from '../http/reset-connection.ts';
import type { ClientProgress, Connections } from './connections.ts';
import { connectionKey, readTcpQueues, readTcpQueuesSync, type TcpQueues } from './tcp-queues.ts';

/** Clients are looked at so often within the time that they may stall, within bounds. */
const LOOKS_PER_TIMEOUT = 12;
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = 5_000;
/** What the kernel holds for a client that reads is less than this most of the time. */
const MIN_SHED_BYTES = 65_536;

/**
 * Ends clients that take nothing of what waits for them. A client that has stopped reading, or that has vanished
 * without a word, would else keep its connection, its read and what the kernel holds for it: TCP itself gives up after
 * a quarter of an hour, and never on a client that acknowledges and does not read.
 *
 * What a client has taken is what was handed to the kernel less what the kernel still holds. Where nobody tells the
 * latter, it is what Node could hand over.
 */
export class StalledClients {
  /** Clients that were ended because they took nothing, and because memory was short. */
  stalledCount = 0;
  shedCount = 0;
  private readonly server: Server;
  private readonly connections: Connections;
  private readonly timeoutMs: number;
  private readonly timer: NodeJS.Timeout;
  private isLooking = false;

  /** `timeoutMs` is how long a client may take nothing. */
  constructor(server: Server, connections: Connections, timeoutMs: number) {
    this.server = server;
    this.connections = connections;
    this.timeoutMs = timeoutMs;
    const intervalMs = Math.min(
      Math.max(timeoutMs / LOOKS_PER_TIMEOUT, MIN_INTERVAL_MS),
      MAX_INTERVAL_MS,
    );
    this.timer = setInterval(() => void this.look(), intervalMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Ends the clients for which the kernel holds most, until it can take back so many bytes. */
  shed(bytes: number): void {
    const queues = readTcpQueuesSync(this.port);
    if (!queues || bytes <= 0) return;
    const candidates = [...this.connections.sockets()]
      .map((socket) => ({ socket, queued: queueOf(socket, queues) }))
      .filter(({ queued }) => queued >= MIN_SHED_BYTES)
      .sort((a, b) => b.queued - a.queued);
    let freed = 0;
    for (const { socket, queued } of candidates) {
      if (freed >= bytes) return;
      freed += queued;
      this.shedCount++;
      resetConnection(socket);
    }
  }

  /** Looks at every client that has something to take. Never rejects. */
  async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    // What was written is looked at first: what is written while the table is read must not count as taken.
    const written: Written[] = [];
    for (const [socket, progress] of this.connections.progress()) {
      const bytes = socket.bytesWritten || 0;
      const waitingBytes = socket.writableLength;
      if (waitingBytes > 0 || progress.takenBytes !== bytes) {
        written.push({ socket, progress, bytes, waitingBytes });
      }
    }
    if (written.length > 0) {
      const queues = await readTcpQueues(this.port);
      for (const client of written) this.judge(client, queues);
    }
    this.isLooking = false;
  }

  private judge(
    { socket, progress, bytes, waitingBytes }: Written,
    queues: TcpQueues | undefined,
  ): void {
    if (socket.destroyed) return;
    const untakenBytes = waitingBytes + (queues ? queueOf(socket, queues) : 0);
    const nowMs = performance.now();
    // An estimate from below: it grows only where the client has taken something.
    const takenBytes = bytes - untakenBytes;
    if (untakenBytes === 0 || takenBytes > progress.takenBytes || progress.waitsSinceMs === 0) {
      progress.takenBytes = takenBytes;
      progress.waitsSinceMs = untakenBytes === 0 ? 0 : nowMs;
    } else if (nowMs - progress.waitsSinceMs >= this.timeoutMs) {
      this.stalledCount++;
      // A close would leave it to the kernel to go on trying.
      resetConnection(socket);
    }
  }

  private get port(): number {
    return (this.server.address() as AddressInfo | null)?.port ?? 0;
  }
}

interface Written {
  socket: Socket;
  progress: ClientProgress;
  /** Written to the socket, and of that not yet handed to the kernel. */
  bytes: number;
  waitingBytes: number;
}

function queueOf(socket: Socket, queues: TcpQueues): number {
  const key = queues.size === 0 ? undefined : connectionKey(socket);
  return key === undefined ? 0 : (queues.get(key) ?? 0);
}
