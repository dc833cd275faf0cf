/** The origins of the real upstreams of this test file; any other is a double. */
const origins = new Set<string>();

export function addRealUpstream(url: string): void {
  origins.add(new URL(url).origin);
}

export function isRealUpstream(url: string | undefined): boolean {
  return url !== undefined && origins.has(new URL(url).origin);
}
