import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { startNginx } from '../nginx-process.ts';
import { INSTANT_BODY, INSTANT_HEADERS, MOUNT_PATH, type InstantUpstream } from './instant.ts';

export interface NginxUpstream extends InstantUpstream {
  /** Of the stream at `LARGE_STREAM`. */
  largeBytes: number;
}

export const LARGE_STREAM = '/t/default/large';
const LARGE_BYTES = 1_073_741_824;

/** An nginx that answers at once and takes the least processor time of all upstreams. One of its streams has 1 GiB. */
export async function startNginxUpstream(largeBytes = LARGE_BYTES): Promise<NginxUpstream> {
  const { port } = await choosePorts({ port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-large-'));
  await writeHole(join(folder, 'large'), largeBytes);
  const server = await startNginx({
    http: configuration(port, folder),
    readyUrl: `${origin}/ready`,
  });
  return {
    streamsUrl: `${origin}${MOUNT_PATH}`,
    largeBytes,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(port: number, folder: string): string {
  const headers = Object.entries(INSTANT_HEADERS)
    .map(([name, value]) => `add_header ${name} "${value}";`)
    .join('\n      ');
  return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    sendfile on;
    default_type application/json;
    location = /ready {
      return 200;
    }
    location = ${MOUNT_PATH}${LARGE_STREAM} {
      alias ${folder}/large;
      ${headers}
    }
    location / {
      add_header ETag '"$request_uri"';
      ${headers}
      return 200 '${INSTANT_BODY}';
    }
  }`;
}

/** A sparse file of zeros, because the bench measures the proxy and not the disk. */
async function writeHole(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(sizeBytes);
  await file.close();
}
