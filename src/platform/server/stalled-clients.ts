import type { Socket } from 'node:net';
import { awakeMs } from '../clock/awake-clock.ts';
import { resetConnection } from '../http/reset-connection.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { contextOf, type OwnRead } from './request-context.ts';
import { readTcpQueues, readTcpQueuesSync, type TcpQueues } from './tcp-queues.ts';

/** How often clients are checked within the stall timeout, within bounds. */
const LOOKS_PER_TIMEOUT = 12;
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = 5_000;
/** A client that reads, reads something within this time. */
const STILL_MS = 100;
/** The kernel usually holds less than this for a client that reads. */
const MIN_SHED_BYTES = 65_536;

/**
 * Disconnects clients that do not read what waits for them. A client that has stopped reading, or has vanished
 * silently, would keep its connection, its read and the kernel's memory. TCP itself gives up after a quarter of an
 * hour, and never on a client that acknowledges without reading. The bytes that a client has read are those passed
 * to the kernel, less those that the kernel still holds. If the kernel does not report the latter, it is what Node
 * could pass on.
 */
export class StalledClients {
  /** The numbers of clients that were disconnected for reading nothing, and for short memory. */
  stalledCount = 0;
  shedCount = 0;
  private readonly connections: Connections;
  private readonly timeoutMs: number;
  private readonly timer: NodeJS.Timeout;
  private isLooking = false;

  /** `timeoutMs` is the longest time in which a client may read nothing. */
  constructor(connections: Connections, timeoutMs: number) {
    this.connections = connections;
    this.timeoutMs = timeoutMs;
    const intervalMs = Math.min(
      Math.max(timeoutMs / LOOKS_PER_TIMEOUT, MIN_INTERVAL_MS),
      MAX_INTERVAL_MS,
    );
    this.timer = setInterval(() => void this.findStalled(), intervalMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /**
   * Disconnects clients until the kernel can free this many bytes: those that have read nothing for a while, with the
   * largest kernel buffers first. With `isUrgent` also those that read.
   */
  shed(bytes: number, isUrgent: boolean): void {
    const queues = readTcpQueuesSync();
    if (!queues || bytes <= 0) return;
    const holders: Holder[] = [];
    for (const connection of this.connections.all()) {
      const { socket } = connection;
      const { unsentBytes } = queues.of(socket);
      const ownReads = ownReadsOf(connection);
      let queuedBytes = unsentBytes;
      for (const read of ownReads)
        if (read.socket) queuedBytes += queues.of(read.socket).unreadBytes;
      if (queuedBytes < MIN_SHED_BYTES) continue;
      const untakenBytes = socket.writableLength + unsentBytes;
      const stillMs = stillMsOf(connection, socket.bytesWritten || 0, untakenBytes);
      holders.push({ socket, ownReads, queuedBytes, isStill: stillMs >= STILL_MS });
    }
    const candidates = holders.filter(({ isStill }) => isStill || isUrgent).sort(byWhoGoesFirst);
    let freedBytes = 0;
    for (const { socket, ownReads, queuedBytes } of candidates) {
      if (freedBytes >= bytes) return;
      freedBytes += queuedBytes;
      this.shedCount++;
      resetConnection(socket);
      // The reads end only when Node reports the reset, and what is freed must be free at the next look.
      for (const read of ownReads) read.cancel();
    }
  }

  /** Checks every client for which something waits. Never rejects. */
  async findStalled(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    // The written bytes are read first, because bytes that are written while the table is read must not count as
    // read by the client.
    const written: Written[] = [];
    for (const connection of this.connections.all()) {
      const { socket, takenBytes } = connection;
      const bytes = socket.bytesWritten || 0;
      const waitingBytes = socket.writableLength;
      if (waitingBytes > 0 || takenBytes !== bytes || socket.writableEnded) {
        written.push({ connection, bytes, waitingBytes });
      }
    }
    if (written.length > 0) {
      const queues = await readTcpQueues();
      for (const client of written) this.judge(client, queues);
    }
    this.isLooking = false;
  }

  private judge({ connection, bytes, waitingBytes }: Written, queues: TcpQueues | undefined): void {
    const { socket } = connection;
    if (socket.destroyed) return;
    const untakenBytes = waitingBytes + (queues?.of(socket).unsentBytes ?? 0);
    // It has the whole response and the end of the connection, but keeps its own side open.
    if (untakenBytes === 0 && socket.writableEnded) socket.destroy();
    if (stillMsOf(connection, bytes, untakenBytes) < this.timeoutMs) return;
    this.stalledCount++;
    // After a close the kernel would continue to send.
    resetConnection(socket);
  }
}

/**
 * For how long a client has read nothing of what waits for it, as far as the checks of it tell. `bytes` are those written to
 * its socket, and the others those of them that it has not read.
 */
function stillMsOf(connection: Connection, bytes: number, untakenBytes: number): number {
  const nowMs = awakeMs();
  // An estimate from below, which grows only if the client has read something.
  const takenBytes = bytes - untakenBytes;
  if (untakenBytes === 0 || takenBytes > connection.takenBytes || connection.waitsSinceMs === 0) {
    connection.takenBytes = takenBytes;
    connection.waitsSinceMs = untakenBytes === 0 ? 0 : nowMs;
    return 0;
  }
  return nowMs - connection.waitsSinceMs;
}

/** The reads for a client alone. The kernel takes more of their responses while the client does not read. */
function ownReadsOf({ exchanges }: Connection): OwnRead[] {
  return exchanges.flatMap(({ request }) => contextOf(request)?.ownRead ?? []);
}

interface Written {
  connection: Connection;
  /** The bytes written to the socket, and those of them not yet passed to the kernel. */
  bytes: number;
  waitingBytes: number;
}

/** A client for which the kernel holds something. */
interface Holder {
  socket: Socket;
  ownReads: readonly OwnRead[];
  queuedBytes: number;
  isStill: boolean;
}

function byWhoGoesFirst(a: Holder, b: Holder): number {
  return Number(b.isStill) - Number(a.isStill) || b.queuedBytes - a.queuedBytes;
}
