import { choosePorts } from '../../local/stack/ports.ts';
import { startNginx } from '../nginx-process.ts';
import { missingProgram } from '../programs.ts';
import { API_KEY, STREAMS_PREFIX, type Contender } from './contender.ts';

export interface NginxContenderOptions {
  /** The address on which it listens. */
  host?: string;
  workers?: number;
  /** Instead of the one that its kind has. */
  id?: string;
  /** What it is set up for: to pass on small pieces as they come, or much at a time. */
  bodies?: 'small' | 'large';
  /** Write a line a request, to `/dev/null`, in blocks. */
  hasLog?: boolean;
}

/** The fastest settings that we found for each kind of read. Nothing is written to disk. */
const BUFFERING = {
  small: 'proxy_buffering off;',
  large: 'proxy_buffer_size 64k; proxy_buffers 16 64k; proxy_max_temp_file_size 0;',
};

const ACCESS_LOG = 'access_log /dev/null combined buffer=16k;';

/** nginx as a reverse proxy with the same check of the credential and kept upstream connections. */
export function nginx({
  host = '127.0.0.1',
  workers = 1,
  bodies = 'small',
  hasLog = false,
  id: givenId,
}: NginxContenderOptions = {}): Contender {
  const label = workers === 1 ? 'nginx, one worker' : `nginx, ${workers} workers`;
  const [id, addition] = variety(bodies, hasLog);
  return {
    id: givenId ?? id,
    label: label + addition,
    missing: () => missingProgram('nginx'),
    start: async (streamsUrl) => {
      const { port } = await choosePorts({ port: 0 });
      const address = `${host}:${port}`;
      const origin = `http://${address}`;
      const server = await startNginx({
        workers,
        http: configuration(
          address,
          new URL(streamsUrl),
          BUFFERING[bodies] + (hasLog ? ACCESS_LOG : ''),
        ),
        readyUrl: `${origin}/health`,
      });
      return { url: `${origin}${STREAMS_PREFIX}`, ...server };
    },
  };
}

function variety(bodies: 'small' | 'large', hasLog: boolean): [string, string] {
  if (hasLog) return ['nginx-logging', ', its log on'];
  return bodies === 'large' ? ['nginx-large', ', set up for large bodies'] : ['nginx', ''];
}

/**
 * Reads may park for minutes, hence the timeouts; and each has its own connection to the upstream, which is
 * to be kept when an event has answered all of them.
 */
function configuration(address: string, upstream: URL, buffering: string): string {
  return `
  map $http_authorization $is_authorized {
    default 0;
    "Bearer ${API_KEY}" 1;
  }
  upstream store {
    server ${upstream.host};
    keepalive 10000;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
  }
  server {
    listen ${address} backlog=4096;
    location = /health {
      return 200;
    }
    location ${STREAMS_PREFIX}/ {
      if ($is_authorized = 0) {
        return 401;
      }
      proxy_pass http://store${upstream.pathname}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "";
      proxy_read_timeout 300s;
      ${buffering}
    }
  }`;
}
