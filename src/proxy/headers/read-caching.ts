/**
 * The `Cache-Control` of a read for the client. A read is only for the holder of a credential, so no shared cache
 * may store it, and many caches ignore `Vary`. `public` becomes `private`, `s-maxage` is removed, and `private` is
 * added unless it or `no-store` is there (RFC 9111 §3.5, §5.2.2).
 */
export function privateCacheControl(upstreamValue = ''): string {
  const directives: string[] = [];
  for (const directive of splitDirectives(upstreamValue)) {
    const name = (directive.split('=', 1)[0] ?? '').trim().toLowerCase();
    // `private="field"` would let a cache share the rest of the response, so it becomes `private`.
    if (name === 'public' || name === 'private') addOnce(directives, 'private');
    else if (name !== 's-maxage') directives.push(directive);
  }
  const isPrivate = directives.some((directive) => /^(?:private|no-store)$/i.test(directive));
  return (isPrivate ? directives : ['private', ...directives]).join(', ');
}

/** Adds names to `Vary`. A name that is already there is not repeated. */
export function extendVary(upstreamValue: string | undefined, names: readonly string[]): string {
  const present = (upstreamValue ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (present.includes('*')) return '*';
  for (const name of names) {
    if (!present.some((other) => other.toLowerCase() === name.toLowerCase())) present.push(name);
  }
  return present.join(', ');
}

/** Splits at commas outside quotes, as in `no-cache="a, b", max-age=1`. */
function splitDirectives(value: string): string[] {
  return (value.match(/(?:"(?:[^"\\]|\\.)*"|[^,"]|")+/g) ?? [])
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '');
}

function addOnce(list: string[], value: string): void {
  if (!list.includes(value)) list.push(value);
}
