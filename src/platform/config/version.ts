import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version in the `package.json` of the program, or "unknown". */
export function gatewayVersion(): string {
  return versionFor(import.meta.url);
}

/** The same for a module by its URL. Where there is no `package.json`, Node may give the path of a folder. */
export function versionFor(moduleUrl: string): string {
  try {
    const manifest = findPackageJSON('.', moduleUrl);
    if (manifest === undefined) return UNKNOWN;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

const UNKNOWN = 'unknown';
