import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { untilAccepting } from '../support/until-accepting.ts';

/** The path that the environment names, or else the usual path on Debian and other systems. */
const PATHS = process.env.NGINX_PATH
  ? [process.env.NGINX_PATH]
  : ['/usr/sbin/nginx', '/usr/local/sbin/nginx'];

export const HOW_TO_GET_NGINX = `There is no nginx here, so nothing was tested.
On Debian or Ubuntu: apt-get install --no-install-recommends nginx-light
Elsewhere: install nginx and name its program in NGINX_PATH.`;

/** The path of nginx, or undefined if it is not installed. */
export function findNginx(): string | undefined {
  return PATHS.find((path) => existsSync(path));
}

export interface RunningNginx {
  url: string;
  stop(): Promise<void>;
}

/**
 * A shared cache as careless as those on the Internet can be: the key is the URI alone, `Vary` is
 * not looked at, what says nothing of caching is kept for ten minutes, and conditions are passed on,
 * so that a 304 can be kept, too. What the upstream says in `Cache-Control` is honoured.
 */
export function startSharedCache(nginx: string, upstreamUrl: string): Promise<RunningNginx> {
  return startNginx(nginx, (folder, port) => sharedCache(folder, port, upstreamUrl));
}

/** Starts nginx on a free port. `configure` writes its `http` block. */
export async function startNginx(
  nginx: string,
  configure: (folder: string, port: number) => string,
): Promise<RunningNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cache-'));
  const { nginx: port } = await choosePorts({ nginx: 0 });
  const configPath = join(folder, 'nginx.conf');
  await writeFile(configPath, configuration(folder, configure(folder, port)));
  const server = startProcess({
    name: 'nginx',
    command: nginx,
    args: ['-p', folder, '-c', configPath, '-e', 'stderr'],
    env: { PATH: process.env.PATH },
  });
  await untilReady(server, READY_TIMEOUT_MS, () => untilAccepting(port));
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function configuration(folder: string, http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n  ');
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  ${temporary}
${http}
}
`;
}

function sharedCache(folder: string, port: number, upstreamUrl: string): string {
  return `  proxy_cache_path ${folder}/cache keys_zone=shared:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstreamUrl};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header If-None-Match $http_if_none_match;
      proxy_cache shared;
      proxy_cache_key $request_uri;
      proxy_cache_valid any 10m;
      proxy_ignore_headers Vary;
      add_header X-Cache $upstream_cache_status always;
    }
  }`;
}
