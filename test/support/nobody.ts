/** A port where nothing listens: connections are refused. */
export const NOBODY = 'http://127.0.0.1:1';

/** Upstreams that refuse connections, except those that a test names. */
export function upstreamsOrNobody(env: Record<string, string> = {}): Record<string, string> {
  return {
    GATEWAY_RUNTIME_INGRESS_URL: NOBODY,
    GATEWAY_RUNTIME_ADMIN_URL: NOBODY,
    GATEWAY_HISTORY_URL: NOBODY,
    GATEWAY_SYNC_URL: NOBODY,
    ...env,
  };
}
