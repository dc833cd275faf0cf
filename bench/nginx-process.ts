import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from './contenders/server-process.ts';
import { programPath } from './programs.ts';

export interface NginxOptions {
  /** Of the `http` block. */
  http: string;
  readyUrl: string;
  /** 1 runs in one process, without a master. */
  workers?: number;
}

export interface RunningNginx {
  pid: number;
  stop(): Promise<void>;
}

const CONNECTIONS_PER_WORKER = 19_000;

/** Starts an nginx with a folder of its own. Stopping nginx removes the folder. */
export async function startNginx(options: NginxOptions): Promise<RunningNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-nginx-'));
  const configPath = join(folder, 'nginx.conf');
  await writeFile(configPath, configuration(folder, options));
  const server = await startServerProcess({
    name: 'nginx',
    command: programPath('nginx'),
    args: ['-p', folder, '-c', configPath, '-e', 'stderr'],
    readyUrl: options.readyUrl,
  });
  return {
    pid: server.pid,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, { http, workers = 1 }: NginxOptions): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n  ');
  return `daemon off;
${workers === 1 ? 'master_process off;' : `worker_processes ${workers};`}
pid ${folder}/nginx.pid;
error_log stderr crit;
events {
  worker_connections ${CONNECTIONS_PER_WORKER};
}
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 300s;
  ${temporary}
  ${http}
}
`;
}
