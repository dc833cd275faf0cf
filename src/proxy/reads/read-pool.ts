import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { HeaderList } from '../header-list.ts';

/**
 * As many connections are kept open for reads to come; of an upstream. With fewer than reads are under way at
 * once each read opens one anew, which at 512 costs a third of all processor time.
 */
const MAX_IDLE_CONNECTIONS = 1_024;
/**
 * After this an idle connection is closed, or two seconds before the upstream's own
 * `Keep-Alive: timeout` where that is sooner.
 */
const IDLE_TIMEOUT_MS = 60_000;

type Connector = ReturnType<typeof buildConnector>;

/** No connection in time. Undici's own clock for that goes by half seconds. */
class ConnectTimeout extends Error {}

/** One connection to an upstream, for one read at a time; opened with its first. */
export class ReadConnection {
  /** The socket, once there is one. */
  socket: Socket | undefined;
  private readonly client: Client;

  constructor(origin: string, connect: Connector, connectTimeoutMs: number) {
    this.client = new Client(origin, {
      connect: (options, callback) => {
        const timer = setTimeout(() => this.discard(new ConnectTimeout()), connectTimeoutMs);
        connect(options, (...result) => {
          clearTimeout(timer);
          this.socket = result[1] ?? undefined;
          callback(...result);
        });
      },
      pipelining: 1,
      // Over HTTP/2 a read that is broken off would not end its connection; and stores speak HTTP/1.1.
      allowH2: false,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      // Each reader has a clock of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  send(
    method: 'GET' | 'HEAD',
    path: string,
    headers: HeaderList,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.client.dispatch({ method, path, headers }, handler);
  }

  /** Closes it, whatever is under way. */
  discard(reason: Error | null = null): void {
    void this.client.destroy(reason);
  }

  /** Calls back when the connection has been lost or closed. */
  onLost(callback: () => void): void {
    this.client.on('disconnect', callback);
  }
}

/**
 * The connections to one upstream's origin. Undici's own pool looks through all of its connections for
 * a free one, and among ten thousand parked reads that is the larger part of a read's cost.
 */
export class ReadPool {
  private readonly origin: string;
  private readonly connectTimeoutMs: number;
  private readonly connect: Connector;
  private readonly idle: ReadConnection[] = [];
  private readonly all = new Set<ReadConnection>();

  constructor(origin: string, connectTimeoutMs: number) {
    this.origin = origin;
    this.connectTimeoutMs = connectTimeoutMs;
    this.connect = buildConnector({ timeout: 0, allowH2: false });
  }

  /** The connection that was used last, which is the likeliest to be open still, or a new one. */
  take(): ReadConnection {
    return this.idle.pop() ?? this.open();
  }

  /** A new connection. */
  open(): ReadConnection {
    const connection = new ReadConnection(this.origin, this.connect, this.connectTimeoutMs);
    this.all.add(connection);
    // One that is in use tells its read; it may have been taken before its last end was noticed, and
    // is then opened anew by undici.
    connection.onLost(() => this.idle.includes(connection) && this.drop(connection));
    return connection;
  }

  /** Keeps a connection whose read has ended well. */
  giveBack(connection: ReadConnection): void {
    if (this.idle.length < MAX_IDLE_CONNECTIONS && this.all.has(connection)) {
      this.idle.push(connection);
    } else {
      this.drop(connection);
    }
  }

  /** Closes every connection, whatever is under way. */
  close(): void {
    for (const connection of this.all) this.drop(connection);
  }

  /** Closes a connection, whatever is under way. */
  drop(connection: ReadConnection): void {
    this.all.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at !== -1) this.idle.splice(at, 1);
    connection.discard();
  }
}
