import { readFileSync } from 'node:fs';

/** The version of this gateway, of the `package.json` beside `src` or `dist`; "unknown" where it has none. */
export function gatewayVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version?: string }).version ?? 'unknown';
}
