import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { ServerHttp2Session } from 'node:http2';
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
  /** The public key of the runtime that may give work (`publickeyv1_…`). Without it whoever reaches the port may. */
  identityKey?: string;
  /** The path of `url`. */
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
  const { host = '127.0.0.1', identityKey, systemName } = options;
  const services = [echoAgent(options), ...assistantAgent(options).services];
  const { catalogUrl, catalogToken } = options;
  const rows =
    catalogUrl === undefined ? [] : [catalogRowWriter(catalogUrl, undefined, catalogToken)];
  // HTTP/2 without TLS, like the SDK's own `serve`, which can neither be stopped nor bound to an address.
  const server = createServer(
    createEndpointHandler({
      services: [...services, ...rows],
      identityKeys: identityKey === undefined ? [] : [identityKey],
      logger: logFailures,
    }),
  );
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
