import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { catalogRowWriter } from '../../packages/client/src/agent/index.ts';
import { logFailures } from './agent-log.ts';
import { assistantAgent, type AssistantOptions } from './assistant-agent.ts';
import { echoAgent } from './echo-agent.ts';

export interface AgentsServerOptions extends AssistantOptions {
  /** 0 means a free port. */
  port: number;
  /** Default `127.0.0.1`. A runtime in a container needs an address that it can reach. */
  host?: string;
  /** The name of the system that may give work. It is the path of `url`, and no other path is answered. Without it any path. */
  systemName?: string;
}

export interface RunningAgents {
  /** The `uri` of the deployment to register. */
  readonly url: string;
  readonly port: number;
  /** It stops at once, because Restate retries everything that is cut off. */
  stop(): Promise<void>;
}

/** Serves the example agents to Restate. */
export async function startAgents(options: AgentsServerOptions): Promise<RunningAgents> {
  const { host = '127.0.0.1', systemName } = options;
  const services = [echoAgent(options), ...assistantAgent(options).services];
  const rows = options.catalogUrl === undefined ? [] : [catalogRowWriter(options.catalogUrl)];
  // HTTP/2 without TLS, like the SDK's own `serve`, which can neither be stopped nor bound to an address.
  const endpoint = { services: [...services, ...rows], logger: logFailures };
  const handle = createEndpointHandler(endpoint);
  const server = createServer(systemName === undefined ? handle : onlyFor(systemName, handle));
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.listen(options.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${systemName ? `/${systemName}` : ''}`,
    port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** The runtime of another system remembers this port perhaps, from a time when its own agents had it. */
function onlyFor(systemName: string, handle: Handler): Handler {
  return (request, response) => {
    if (request.url.startsWith(`/${systemName}/`)) return handle(request, response);
    response.writeHead(421, { 'content-type': 'text/plain' });
    response.end(`These agents work for the local system ${systemName} only.\n`);
  };
}
