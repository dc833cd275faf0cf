import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf, WORKSPACES } from './workspaces.ts';

/** A place that repeats the version of `package.json`, which is authoritative. */
interface Place {
  file: string;
  /** The version is its first group. */
  pattern: RegExp;
}

const PACKAGE = /^ {2}"version": "([^"]+)"/m;
const CLIENT = /"@agent-gateway\/client": "\^([^"]+)"/;

/** `npm install --package-lock-only` writes that of `package-lock.json`, `npm run openapi` that of `docs/openapi.json`. */
const PLACES: readonly Place[] = [
  ...WORKSPACES.map((name) => ({ file: manifestOf(name), pattern: PACKAGE })),
  ...['react', 'ai-sdk', 'ag-ui', 'mcp'].map((name) => ({
    file: manifestOf(name),
    pattern: CLIENT,
  })),
  ...['agent', 'chat', 'llm-agent'].map((name) => ({
    file: `examples/${name}/package.json`,
    pattern: CLIENT,
  })),
  { file: 'examples/chat/package.json', pattern: /"@agent-gateway\/react": "\^([^"]+)"/ },
  { file: 'packages/python/pyproject.toml', pattern: /^version = "([^"]+)"$/m },
  { file: 'helm/agent-gateway/Chart.yaml', pattern: /^version: (\S+)$/m },
  { file: 'helm/agent-gateway/Chart.yaml', pattern: /^appVersion: '([^']+)'$/m },
];
const GENERATED: readonly Place[] = [
  { file: 'package-lock.json', pattern: PACKAGE },
  { file: 'docs/openapi.json', pattern: /^ {4}"version": "([^"]+)"/m },
];
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

/** The version of the project. */
export function projectVersion(root: string): string {
  return versionAt(root, { file: 'package.json', pattern: PACKAGE });
}

/** The places with another version, in words. Empty if all agree. */
export function disagreements(root: string): string[] {
  const version = projectVersion(root);
  return [...PLACES, ...GENERATED]
    .map((place) => ({ ...place, found: versionAt(root, place) }))
    .filter(({ found }) => found !== version)
    .map(({ file, found }) => `${file} has ${found}, package.json ${version}`);
}

/** Writes a version to all places except generated ones. Throws an Error for an invalid version. */
export function setVersion(root: string, version: string): void {
  if (!VERSION.test(version)) throw new Error(`"${version}" is no version, such as 1.2.3.`);
  for (const { file, pattern } of [{ file: 'package.json', pattern: PACKAGE }, ...PLACES]) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replace(pattern, (match, old: string) => match.replace(old, version)),
    );
  }
}

function versionAt(root: string, { file, pattern }: Place): string {
  return pattern.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? 'none';
}
