import { connect, createServer, type Socket } from 'node:net';
import { listening } from './listening.ts';

/** A TCP proxy in front of a real upstream. It cuts connections that the upstream would never cut. */
export interface CuttingProxy {
  /** The upstream's address with this proxy's port. */
  readonly url: string;
  /** Passes so many more bytes of answers, then breaks off every connection; fulfils when it has. */
  cutAfter(answerBytes: number): Promise<void>;
  /** Breaks off every connection, now and to come, until `restore`: an upstream that is gone. */
  refuse(): void;
  restore(): void;
  stop(): Promise<void>;
}

/** Starts one in front of the server with this URL. */
export async function startCuttingProxy(upstreamUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(upstreamUrl);
  const sockets = new Set<Socket>();
  let isRefusing = false;
  let bytesLeft = Number.POSITIVE_INFINITY;
  let whenCut = Promise.withResolvers<void>();

  const server = createServer((client) => {
    if (isRefusing) {
      client.destroy();
      return;
    }
    const behind = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(behind);
    behind.on('data', (bytes: Buffer) => passAnswer(client, bytes));
  });

  function passAnswer(client: Socket, bytes: Buffer): void {
    if (bytes.length < bytesLeft) {
      bytesLeft -= bytes.length;
      client.write(bytes);
      return;
    }
    const last = bytes.subarray(0, bytesLeft);
    bytesLeft = Number.POSITIVE_INFINITY;
    client.write(last, () => {
      cutAll();
      whenCut.resolve();
    });
  }

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  const proxy = await listening(server);
  const url = new URL(upstreamUrl);
  url.port = String(proxy.port);
  return {
    url: url.href.replace(/\/$/, ''),
    cutAfter: (answerBytes) => {
      bytesLeft = answerBytes;
      whenCut = Promise.withResolvers<void>();
      return whenCut.promise;
    },
    refuse: () => {
      isRefusing = true;
      cutAll();
    },
    restore: () => {
      isRefusing = false;
    },
    stop: proxy.stop,
  };
}
