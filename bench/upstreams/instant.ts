import { choosePorts } from '../../local/stack/ports.ts';
import { startNginx } from '../nginx-process.ts';

export interface InstantUpstream {
  /** Where its streams are, as `GATEWAY_HISTORY_URL` wants it. */
  streamsUrl: string;
  /** What every stream holds. */
  body: string;
  pid: number;
  stop(): Promise<void>;
}

const MOUNT_PATH = '/v1/stream';

/**
 * An nginx that answers every read at once with 1 KiB, as the history store would with what is left
 * of a timeline. The ETag tells which target was asked for.
 */
export async function startInstantUpstream(): Promise<InstantUpstream> {
  const { port } = await choosePorts({ port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  const body = oneKibibyteOfEvents();
  const server = await startNginx({
    http: `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready {
      return 200;
    }
    location / {
      default_type application/json;
      add_header ETag '"$request_uri"';
      add_header Stream-Next-Offset 0000000000000000_0000000000001024;
      add_header Stream-Up-To-Date true;
      add_header Cache-Control "private, max-age=60, stale-while-revalidate=300";
      add_header Access-Control-Allow-Origin *;
      add_header X-Content-Type-Options nosniff;
      return 200 '${body}';
    }
  }`,
    readyUrl: `${origin}/ready`,
  });
  return { streamsUrl: `${origin}${MOUNT_PATH}`, body, ...server };
}

function oneKibibyteOfEvents(): string {
  const events = Array.from({ length: 8 }, (_, seq) => ({ seq, text: 'x'.repeat(104) }));
  return JSON.stringify(events).padEnd(1024, ' ').slice(0, 1024);
}
