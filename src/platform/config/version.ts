import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

const UNKNOWN = 'unknown';

/** The version in the `package.json` of a module, or "unknown". Where there is none, Node may give the path of a folder. */
export function gatewayVersion(moduleUrl = import.meta.url): string {
  try {
    const manifest = findPackageJSON('.', moduleUrl);
    if (manifest === undefined) return UNKNOWN;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
