/** An authority as RFC 9110 §7.2 allows it in `Host`: a name or address and an optional port. */
const AUTHORITY = /^(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * The address that clients use, for absolute URLs in answers: the setting, else the request's own
 * host. Empty, which makes a URL relative to this very gateway, where the host is not usable.
 */
export function publicBaseUrl(setting: string | undefined, host: string | undefined): string {
  if (setting !== undefined) return setting;
  return host !== undefined && AUTHORITY.test(host) ? `http://${host}` : '';
}
