import { readFileSync } from 'node:fs';

/** The version of this package, for `--version` and the `User-Agent`. */
export function packageVersion(): string {
  for (const path of ['../package.json', '../../../../package.json']) {
    try {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      const { name, version } = JSON.parse(text) as { name?: string; version?: string };
      if (name === '@agent-gateway/cli' && version !== undefined) return version;
    } catch {
      // The built file is deeper than its source.
    }
  }
  return 'unknown';
}
