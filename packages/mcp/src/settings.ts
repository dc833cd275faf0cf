import { AgentGateway } from '@agent-gateway/client';

type Environment = Record<string, string | undefined>;

/** A setting that is missing or wrong. Its message is one sentence for the person who sets it, without the key. */
export class SettingError extends Error {}

/**
 * The gateway that the environment names: AGENT_GATEWAY_URL with AGENT_GATEWAY_KEY and AGENT_GATEWAY_TENANT, or GATEWAY_URL with
 * GATEWAY_API_KEY and GATEWAY_TENANT. Throws a `SettingError`.
 */
export function gatewayOf(env: Environment): AgentGateway {
  const isOwn = Boolean(env.AGENT_GATEWAY_URL);
  const [name, url = 'http://127.0.0.1:8787'] = isOwn
    ? ['AGENT_GATEWAY_URL', env.AGENT_GATEWAY_URL]
    : ['GATEWAY_URL', env.GATEWAY_URL || undefined];
  // A key never goes to an address that was set without it.
  const key = env.AGENT_GATEWAY_KEY || (isOwn ? undefined : env.GATEWAY_API_KEY);
  const tenant = env.AGENT_GATEWAY_TENANT || (isOwn ? undefined : env.GATEWAY_TENANT);
  const apiKey = checkedKey(key);
  refuseOthers(checkedUrl(url, name), env);
  if (tenant && !/^[A-Za-z0-9_-]{1,63}$/.test(tenant)) {
    throw new SettingError('the tenant must be 1 to 63 letters, digits, underscores or hyphens.');
  }
  return new AgentGateway({ url, apiKey, ...(tenant && { tenant }) });
}

function checkedKey(key: string | undefined): string {
  const trimmed = key?.trim();
  if (!trimmed) {
    throw new SettingError('there is no API key. Set AGENT_GATEWAY_URL and AGENT_GATEWAY_KEY.');
  }
  // A header takes no other characters.
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new SettingError('the API key holds spaces or characters that no key has.');
  }
  return trimmed;
}

function checkedUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.username === '' && url.password === '' && url.search === '' && !url.hash;
  if (url && isBare && /^https?:$/.test(url.protocol)) return url;
  // A URL with a password is one of the wrong ones, so it is not repeated.
  throw new SettingError(
    `${name} must be an http or https URL without user name, query or fragment.`,
  );
}

/** Over plain HTTP anybody on the way to another machine could read the key. */
function refuseOthers({ protocol, hostname, origin }: URL, env: Environment): void {
  const isHere = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname);
  const isAllowed = /^(?:1|true)$/i.test(env.AGENT_GATEWAY_ALLOW_HTTP ?? '');
  if (protocol === 'https:' || isHere || isAllowed) return;
  throw new SettingError(
    `the key is not sent to ${origin} in the clear. Give the https address, or set AGENT_GATEWAY_ALLOW_HTTP=1 in a network of your own.`,
  );
}
