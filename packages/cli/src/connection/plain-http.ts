import { usageError } from '../cli-error.ts';

/** Allows a key over plain HTTP to other machines: `1` or `true`. Within a cluster that is usual. */
const VARIABLE = 'AGENT_GATEWAY_ALLOW_HTTP';

/** Throws a usage error for another value of the variable than yes or no. */
export function allowsHttp(env: Record<string, string | undefined>): boolean {
  const value = env[VARIABLE] ?? '';
  if (/^(?:1|true)$/i.test(value)) return true;
  if (/^(?:0|false)?$/i.test(value)) return false;
  throw usageError(`${VARIABLE} must be 1 or 0.`);
}

/** Throws a usage error for a key that would go to another machine in the clear. */
export function refusePlainHttp(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  throw usageError(
    `The key is not sent to ${url}: everybody on the way could read it.`,
    `Give the https address. Where the network is your own, as in a cluster: --allow-http, ${VARIABLE}=1, or "allowHttp" in the profile.`,
  );
}

/** A `URL` has turned each spelling of an IPv4 address into four numbers. */
function isLoopback(hostname: string): boolean {
  return (
    /^127\.\d+\.\d+\.\d+$/.test(hostname) ||
    hostname === '[::1]' ||
    /^(?:.+\.)?localhost\.?$/.test(hostname)
  );
}
