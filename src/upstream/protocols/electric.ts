const SECRETS = ['secret', 'api_secret'];

/** A query without the sync engine's credential; everything else keeps its bytes. */
export function withoutSecrets(query: string): string {
  if (query.length < 2) return query;
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => !SECRETS.includes(parameterName(pair)));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** A parameter's decoded name, without the brackets that some servers read as nesting. */
function parameterName(pair: string): string {
  const raw = (pair.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  let name = raw;
  try {
    name = decodeURIComponent(raw);
  } catch {
    // Not decodable: no server can read it as one of the names that matter.
  }
  return name.split('[', 1)[0] ?? '';
}
