/** A port where nothing listens: connections are refused. */
export const NOBODY = 'http://127.0.0.1:1';

/** The deadline of a command. A gateway retries a runtime that refuses connections until then. */
const TIMEOUT_WITHOUT_RUNTIME_MS = '3000';

/** Upstreams that refuse connections, except those that a test names. */
export function upstreamsOrNobody(env: Record<string, string> = {}): Record<string, string> {
  const hasRuntime = env['GATEWAY_RUNTIME_INGRESS_URL'] !== undefined;
  return {
    GATEWAY_RUNTIME_INGRESS_URL: NOBODY,
    GATEWAY_RUNTIME_ADMIN_URL: NOBODY,
    GATEWAY_HISTORY_URL: NOBODY,
    GATEWAY_SYNC_URL: NOBODY,
    ...(hasRuntime ? {} : { GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: TIMEOUT_WITHOUT_RUNTIME_MS }),
    ...env,
  };
}
