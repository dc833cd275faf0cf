/** A port where nothing listens: connections are refused. (`fetch` refuses port 1 by itself.) */
export const NOBODY = 'http://127.0.0.1:2';

/** One server as all four upstreams. */
export function everyUpstream(url: string): Record<string, string> {
  return {
    GATEWAY_RUNTIME_INGRESS_URL: url,
    GATEWAY_RUNTIME_ADMIN_URL: url,
    GATEWAY_HISTORY_URL: url,
    GATEWAY_SYNC_URL: url,
  };
}

/** Upstreams that refuse connections, except those that a test names. */
export function upstreamsOrNobody(env: Record<string, string> = {}): Record<string, string> {
  return { ...everyUpstream(NOBODY), ...env };
}
