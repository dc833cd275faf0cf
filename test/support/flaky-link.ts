import { connect, createServer, type Socket } from 'node:net';
import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { listening } from './listening.ts';

export interface FlakyLink {
  url: string;
  port: number;
  /** Connections open just now. */
  readonly open: number;
  /** Cuts every connection, in the middle of whatever is on it. */
  cut(): void;
  /** Lets the connections that are open vanish without a word: nothing passes on them any more. New ones work. */
  vanish(): void;
  /** Resets new connections at once, as of a server that is gone. */
  goDown(): void;
  /** Holds back the server's bytes, and releases them again. */
  stall(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** A TCP link to a local server that a test can cut. The server keeps its state. */
export async function startFlakyLink(targetPort: number): Promise<FlakyLink> {
  const pairs = new Set<{ client: Socket; upstream: Socket }>();
  let isDown = false;
  let isStalled = false;
  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (isDown) {
      resetConnection(client);
      return;
    }
    const upstream = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    upstream.on('error', () => resetConnection(client));
    const pair = { client, upstream };
    pairs.add(pair);
    client.setNoDelay(true);
    client.on('close', () => {
      pairs.delete(pair);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroySoon());
    client.pipe(upstream);
    // A second pipe, of `resume`, would send every byte twice.
    if (!isStalled) upstream.pipe(client);
  });
  const link = await listening(server);
  const cut = (): void => {
    for (const { client, upstream } of pairs) {
      resetConnection(client);
      upstream.destroy();
    }
  };
  return {
    url: link.url,
    port: link.port,
    get open() {
      return pairs.size;
    },
    cut,
    goDown: () => {
      isDown = true;
      cut();
    },
    vanish: () => {
      for (const pair of pairs) {
        pair.client.unpipe(pair.upstream).resume();
        pair.upstream.unpipe(pair.client).resume();
        pairs.delete(pair);
      }
    },
    stall: () => {
      isStalled = true;
      for (const { client, upstream } of pairs) upstream.unpipe(client).pause();
    },
    resume: () => {
      isDown = false;
      if (isStalled) for (const { client, upstream } of pairs) upstream.pipe(client);
      isStalled = false;
    },
    stop: () => {
      cut();
      return link.stop();
    },
  };
}
