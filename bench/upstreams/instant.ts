import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { startNginx } from '../nginx-process.ts';

export interface InstantUpstream {
  /** Where its streams are, as `GATEWAY_HISTORY_URL` wants it. */
  streamsUrl: string;
  /** What every stream holds, but the large one. */
  body: string;
  /** Of the stream at `LARGE_STREAM`. */
  largeBytes: number;
  stop(): Promise<void>;
}

const MOUNT_PATH = '/v1/stream';
export const LARGE_STREAM = '/t/default/large';
const LARGE_BYTES = 1_073_741_824;

/**
 * An nginx that answers every read at once with 1 KiB, as the history store would with what is left
 * of a timeline; the ETag tells which target was asked for. One stream is of 1 GiB.
 */
export async function startInstantUpstream(largeBytes = LARGE_BYTES): Promise<InstantUpstream> {
  const { port } = await choosePorts({ port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  const body = oneKibibyteOfEvents();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-large-'));
  await writeHole(join(folder, 'large'), largeBytes);
  const server = await startNginx({
    http: configuration(port, body, folder),
    readyUrl: `${origin}/ready`,
  });
  return {
    streamsUrl: `${origin}${MOUNT_PATH}`,
    body,
    largeBytes,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(port: number, body: string, folder: string): string {
  const headers = `
      add_header Stream-Next-Offset 0000000000000000_0000000000001024;
      add_header Stream-Up-To-Date true;
      add_header Cache-Control "private, max-age=60, stale-while-revalidate=300";
      add_header Access-Control-Allow-Origin *;
      add_header X-Content-Type-Options nosniff;`;
  return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    sendfile on;
    default_type application/json;
    location = /ready {
      return 200;
    }
    location = ${MOUNT_PATH}${LARGE_STREAM} {
      alias ${folder}/large;${headers}
    }
    location / {
      add_header ETag '"$request_uri"';${headers}
      return 200 '${body}';
    }
  }`;
}

function oneKibibyteOfEvents(): string {
  const events = Array.from({ length: 8 }, (_, seq) => ({ seq, text: 'x'.repeat(104) }));
  return JSON.stringify(events).padEnd(1024, ' ').slice(0, 1024);
}

/** A file of zeros that takes no room: what is measured is the way through, not a disk. */
async function writeHole(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(sizeBytes);
  await file.close();
}
