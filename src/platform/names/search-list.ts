const DEFAULT_NDOTS = 1;
/** The most that the C library takes. */
const MAX_NDOTS = 15;

/**
 * The names to ask DNS for, in their order (resolv.conf(5), `search` and `ndots`). Kubernetes gives pods `ndots:5`, so that
 * `history.agents` is asked for as `history.agents.NAMESPACE.svc.cluster.local` first. A name with a final dot stays as it
 * is.
 */
export function searchedNames(resolvConf: string, name: string): string[] {
  if (name.endsWith('.')) return [name];
  let search: string[] = [];
  let ndots = DEFAULT_NDOTS;
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    // The last of several wins.
    if (keyword === 'search' || keyword === 'domain') search = values;
    if (keyword !== 'options') continue;
    for (const option of values) ndots = Number(/^ndots:(\d+)$/.exec(option)?.[1] ?? ndots);
  }
  const asIs = `${name}.`;
  const inSearch = search.map((domain) => `${name}.${domain.replace(/\.?$/, '.')}`);
  const dots = name.split('.').length - 1;
  return dots >= Math.min(ndots, MAX_NDOTS) ? [asIs, ...inSearch] : [...inSearch, asIs];
}
