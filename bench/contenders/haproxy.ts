import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { missingProgram, programPath } from '../programs.ts';
import { API_KEY, STREAMS_PREFIX, type Contender } from './contender.ts';
import { startServerProcess } from './server-process.ts';

/** HAProxy with one thread, the same check of the credential and kept upstream connections. */
export const haproxy: Contender = {
  id: 'haproxy',
  label: 'HAProxy, one thread',
  missing: () => missingProgram('haproxy'),
  start: async (streamsUrl) => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-haproxy-'));
    const { port } = await choosePorts({ port: 0 });
    const origin = `http://127.0.0.1:${port}`;
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configuration(port, new URL(streamsUrl)));
    const server = await startServerProcess({
      name: 'haproxy',
      command: programPath('haproxy'),
      args: ['-db', '-f', file],
      readyUrl: `${origin}/health`,
    });
    return {
      url: `${origin}${STREAMS_PREFIX}`,
      pid: server.pid,
      stop: async () => {
        await server.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

function configuration(port: number, upstream: URL): string {
  return `
global
  nbthread 1
  maxconn 9500
defaults
  mode http
  timeout connect 2s
  timeout client 300s
  timeout server 300s
  timeout http-keep-alive 300s
frontend front
  bind 127.0.0.1:${port} backlog 4096
  monitor-uri /health
  http-request deny deny_status 401 unless { req.hdr(authorization) -m str "Bearer ${API_KEY}" }
  http-request deny deny_status 404 unless { path_beg ${STREAMS_PREFIX}/ }
  http-request replace-path ${STREAMS_PREFIX}/(.*) ${upstream.pathname}/\\1
  http-request del-header authorization
  default_backend store
backend store
  http-reuse always
  server store ${upstream.host}
`;
}
