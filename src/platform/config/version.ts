import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version in the `package.json` of the program, or "unknown". */
export function gatewayVersion(): string {
  const manifest = findPackageJSON('.', import.meta.url);
  if (manifest === undefined) return 'unknown';
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version ?? 'unknown';
}
