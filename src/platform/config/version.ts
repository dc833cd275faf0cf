import { readFileSync } from 'node:fs';

/** The version in the `package.json` beside `src` or `dist`, or "unknown". */
export function gatewayVersion(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version?: string }).version ?? 'unknown';
}
