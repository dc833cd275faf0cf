/**
 * `node tools/keep-packages.ts NAME...`: drops every other development package from `package.json` and `package-lock.json`, so that the
 * `npm ci` of the image's build installs no test tools.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  devDependencies: Record<string, string>;
}

const ROOT = join(import.meta.dirname, '..');
const names = process.argv.slice(2);

for (const file of ['package.json', 'package-lock.json']) {
  const path = join(ROOT, file);
  const content = JSON.parse(readFileSync(path, 'utf8')) as Manifest & {
    packages?: Record<'', Manifest>;
  };
  const manifest = content.packages?.[''] ?? content;
  manifest.devDependencies = keep(manifest.devDependencies);
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
}

function keep(all: Record<string, string>): Record<string, string> {
  const missing = names.filter((name) => !(name in all));
  if (missing.length > 0) throw new Error(`${missing.join(', ')}: no development package`);
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}
