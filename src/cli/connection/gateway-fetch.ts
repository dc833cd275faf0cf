import { readFileSync } from 'node:fs';
import type { Connection } from './connection.ts';
import { notAGateway } from './refusal.ts';

/** The version of this package, for `--version` and the `User-Agent`. */
export function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string };
  return version ?? 'unknown';
}

/**
 * `fetch` to this gateway: with the credential as it is now, and never anywhere else. A redirect is
 * not followed, as the gateway sends none: it throws a `CliError` that names the place.
 */
export function gatewayFetch({ url, credential }: Connection): typeof fetch {
  const userAgent = `agent-gateway-cli/${packageVersion()}`;
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', userAgent);
    if (credential) headers.set('authorization', `Bearer ${credential.value}`);
    const response = await fetch(input, { ...init, headers, redirect: 'manual' });
    if (response.status < 300 || response.status > 399 || response.status === 304) return response;
    await response.body?.cancel();
    const location = response.headers.get('location') ?? 'nowhere';
    throw notAGateway(url, `it answers ${response.status} and points to ${location}`);
  };
}
