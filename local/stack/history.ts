import type { RequestListener, Server } from 'node:http';
import { DurableStreamTestServer } from '@durable-streams/server';
import { withCredential } from './door.ts';
import { FileStoreServer } from './file-store.ts';

/** The conventional mount path of Durable Streams servers. This one serves every path. */
const MOUNT_PATH = '/v1/stream';

export interface HistoryOptions {
  /** 0 or undefined means a free port. */
  port?: number;
  host?: string;
  /** Without it the streams are kept in memory only. */
  dataDir?: string;
  /** The most open files of streams. By default as many as the process can have. */
  maxFileHandles?: number;
  longPollTimeoutMs?: number;
  /** Only callers with this credential get an answer. Without it the store opens all to everybody, any page included. */
  credential?: string;
}

export interface RunningHistory {
  /** The URL with the mount path, as GATEWAY_HISTORY_URL needs it. */
  readonly url: string;
  readonly port: number;
  /** Answers parked reads, closes other connections and the store. */
  stop(): Promise<void>;
}

/** Starts the Durable Streams server of `@durable-streams/server` in this process. */
export async function startHistory(options: HistoryOptions = {}): Promise<RunningHistory> {
  const { dataDir, maxFileHandles } = options;
  const settings = {
    port: options.port ?? 0,
    host: options.host,
    longPollTimeout: options.longPollTimeoutMs,
  };
  const server =
    dataDir === undefined
      ? new DurableStreamTestServer(settings)
      : new FileStoreServer({ ...settings, dataDir, maxFileHandles });
  const origin = await server.start();
  if (options.credential !== undefined) askForCredential(server, options.credential);
  return {
    url: `${origin}${MOUNT_PATH}`,
    port: Number(new URL(origin).port),
    stop: async () => {
      const stopped = server.stop();
      cutConnections(server);
      await stopped;
    },
  };
}

/**
 * The server's own stop waits for clients to leave: a connection that never sent a request, or that
 * goes idle after it, holds it for seconds.
 */
function cutConnections(server: DurableStreamTestServer): void {
  const http = httpServerOf(server);
  setImmediate(() => http.closeAllConnections());
}

function askForCredential(server: DurableStreamTestServer, credential: string): void {
  const http = httpServerOf(server);
  const [serve] = http.listeners('request') as [RequestListener];
  http.removeAllListeners('request').on('request', withCredential(credential, serve));
}

/** The server keeps its HTTP server to itself. */
function httpServerOf(server: DurableStreamTestServer): Server {
  return Reflect.get(server, 'server') as Server;
}
