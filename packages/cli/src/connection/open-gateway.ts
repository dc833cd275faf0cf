import { AgentGateway } from '../../../client/src/index.ts';
import { packageVersion } from '../version.ts';
import type { Connection } from './connection.ts';

/**
 * The client for a connection. It reads the key's file for every request, because the key may have been renewed.
 */
export function openGateway(connection: Connection): AgentGateway {
  const { url, tenant, credential } = connection;
  return new AgentGateway({
    url,
    ...(tenant !== undefined && { tenant }),
    ...(credential && { apiKey: credential.isFile ? () => credential.value : credential.value }),
    fetch: ownFetch,
  });
}

/** `fetch` with a `User-Agent`. */
export const ownFetch: typeof fetch = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('user-agent', `agent-gateway-cli/${packageVersion()}`);
  return fetch(input, { ...init, headers });
};
