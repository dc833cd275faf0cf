import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { awaitOk } from '../../local/stack/await-ok.ts';

/** The path that the environment names, or else Debian's. */
const HAPROXY = process.env.HAPROXY_PATH ?? '/usr/sbin/haproxy';

/** A gateway behind HAProxy: traffic goes to `port`, the readiness check to `managementPort`. */
export interface Backend {
  port: number;
  managementPort: number;
}

export interface RunningHaproxy {
  url: string;
  stop(): Promise<void>;
}

/**
 * A real load balancer, set up as one is in front of a rolling deployment: it asks each gateway's
 * readiness and sends what is new elsewhere as soon as that says 503. It repeats nothing by itself but a
 * connection that was refused.
 */
export async function startHaproxy(backends: Backend[]): Promise<RunningHaproxy> {
  if (!existsSync(HAPROXY)) {
    throw new Error('There is no HAProxy: apt-get install haproxy, or name it in HAPROXY_PATH.');
  }
  const folder = await mkdtemp(join(tmpdir(), 'gateway-haproxy-'));
  const { front, monitor } = await choosePorts({ front: 0, monitor: 0 });
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration(front, monitor, backends));
  const haproxy = startProcess({
    name: 'haproxy',
    command: HAPROXY,
    args: ['-db', '-f', file],
    env: { PATH: process.env.PATH },
  });
  const url = `http://127.0.0.1:${front}`;
  await untilReady(haproxy, READY_TIMEOUT_MS, (signal) =>
    awaitOk(`http://127.0.0.1:${monitor}/all-up`, signal),
  );
  return {
    url,
    stop: async () => {
      await haproxy.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function configuration(front: number, monitor: number, backends: Backend[]): string {
  const servers = backends.map(
    ({ port, managementPort }, index) =>
      `  server gateway${index} 127.0.0.1:${port} check port ${managementPort}`,
  );
  return `
global
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout connect 2s
  timeout client 180s
  timeout server 180s
  timeout http-keep-alive 60s
  timeout check 2s
  retries 3
  option redispatch 1
  # A request ends with its client, and idle connections after a second.
  option abortonclose
  retry-on conn-failure
frontend front
  bind 127.0.0.1:${front}
  default_backend gateways
frontend monitor
  bind 127.0.0.1:${monitor}
  monitor-uri /all-up
  monitor fail if { nbsrv(gateways) lt ${backends.length} }
backend gateways
  balance roundrobin
  http-reuse safe
  option httpchk GET /health/ready
  http-check expect status 200
  default-server inter 100ms fall 1 rise 1 init-addr none pool-purge-delay 1s
${servers.join('\n')}
`;
}
