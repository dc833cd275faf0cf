import { createServer } from 'node:http2';
import { format } from 'node:util';
import { createEndpointHandler, type EndpointOptions } from '@restatedev/restate-sdk';
import { addRealUpstream } from './contract/real-upstreams.ts';
import { listening } from './listening.ts';

/** The Restate that `global-setup.ts` started for the whole run. */
export function restateUrls(): { ingressUrl: string; adminUrl: string } {
  const ingressUrl = process.env.TEST_RESTATE_INGRESS_URL;
  const adminUrl = process.env.TEST_RESTATE_ADMIN_URL;
  if (!ingressUrl || !adminUrl) throw new Error('global-setup.ts has started no Restate.');
  addRealUpstream(adminUrl);
  return { ingressUrl, adminUrl };
}

/** The settings of a gateway for that Restate. */
export function restateSettings(): Record<string, string> {
  const { ingressUrl, adminUrl } = restateUrls();
  return { GATEWAY_RUNTIME_INGRESS_URL: ingressUrl, GATEWAY_RUNTIME_ADMIN_URL: adminUrl };
}

export interface RegisteredAgents {
  /** Where Restate calls the services. */
  readonly uri: string;
  readonly deploymentId: string;
  /** Takes the services out of Restate, with what they still have to do, and ends the server. */
  stop(): Promise<void>;
}

/**
 * Serves these services of the Restate SDK on a free port and registers them, where no other
 * Restate is named with the one of the whole run.
 *
 * The test files share that one: a service's name must be unique to its file (such as
 * `commands-echo`), else the newer registration takes the calls of the older one. A handler that
 * takes any message needs `accept: '*\/*'`, because Restate compares Content-Types.
 */
export async function registerAgents(
  services: EndpointOptions['services'],
  adminUrl = restateUrls().adminUrl,
): Promise<RegisteredAgents> {
  const { uri, close } = await serveAgents(services);
  try {
    const deploymentId = await register(adminUrl, uri);
    const stop = async () => {
      await deregister(adminUrl, deploymentId);
      await close();
    };
    return { uri, deploymentId, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same services at an address that Restate can call, but not registered. */
export async function serveAgents(
  services: EndpointOptions['services'],
): Promise<{ uri: string; close: () => Promise<void> }> {
  const server = createServer(createEndpointHandler({ services, logger: logErrors }));
  // Restate keeps its HTTP/2 sessions open.
  const { url: uri, stop: close } = await listening(server);
  return { uri, close };
}

const logErrors: EndpointOptions['logger'] = (meta, ...message) => {
  if (meta.level === 'error') process.stderr.write(`${format(...message)}\n`);
};

async function register(adminUrl: string, uri: string): Promise<string> {
  const response = await fetch(`${adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`Restate refused ${uri}: ${response.status} ${body}`);
  return (JSON.parse(body) as { id: string }).id;
}

async function deregister(adminUrl: string, deploymentId: string): Promise<void> {
  const url = `${adminUrl}/deployments/${deploymentId}?force=true`;
  const response = await fetch(url, { method: 'DELETE' });
  if (!response.ok) throw new Error(`Restate kept ${deploymentId}: ${response.status}`);
}
