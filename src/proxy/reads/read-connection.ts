import type { Socket } from 'node:net';
import { Client, type buildConnector, type Dispatcher } from 'undici';
import type { HeaderList } from '../header-list.ts';

/**
 * After this an idle connection is closed, or two seconds before the upstream's own
 * `Keep-Alive: timeout` where that is sooner.
 */
const IDLE_TIMEOUT_MS = 60_000;

export type Connector = ReturnType<typeof buildConnector>;

/** No connection in time. Undici's own clock for that goes by half seconds. */
export class ConnectTimeout extends Error {}

/** One connection to an upstream, for one read at a time; opened with its first. */
export class ReadConnection {
  /** The socket, once there is one. */
  socket: Socket | undefined;
  private readonly client: Client;
  private connecting: Socket | undefined;

  constructor(origin: string, connect: Connector, connectTimeoutMs: number) {
    this.client = new Client(origin, {
      connect: (options, callback) => {
        const timer = setTimeout(() => this.giveUp(), connectTimeoutMs);
        // Undici gives the socket back, and its types do not say so.
        this.connecting = connect(options, (...result) => {
          clearTimeout(timer);
          this.connecting = undefined;
          this.socket = result[1] ?? undefined;
          callback(...result);
        }) as unknown as Socket;
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
  discard(): void {
    // Undici would let it go on knocking, for two minutes where nobody answers.
    this.giveUp();
    void this.client.destroy();
  }

  /** Calls back when the connection has been lost or closed. */
  onLost(callback: () => void): void {
    this.client.on('disconnect', callback);
  }

  private giveUp(): void {
    this.connecting?.destroy(new ConnectTimeout());
  }
}
