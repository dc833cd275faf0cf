import { join } from 'node:path';
import { build, type Alias, type Rolldown } from 'vite';

const ROOT = join(import.meta.dirname, '../../..');

/** A package in `node_modules`, or a file of it. */
export const modules = (name: string): string => join(ROOT, 'node_modules', name);

/** The script of a page with one version of React in its development build. */
export function bundleReact(version: 18 | 19): Promise<Map<string, string>> {
  const suffix = version === 18 ? '-18' : '';
  return bundlePage(join(import.meta.dirname, 'page-script.ts'), [
    { find: /^react$/, replacement: modules(`react${suffix}`) },
    { find: /^react-dom$/, replacement: modules(`react-dom${suffix}`) },
    { find: /^react-dom\/client$/, replacement: modules(`react-dom${suffix}/client.js`) },
    { find: /^react-dom\/server$/, replacement: modules(`react-dom${suffix}/server.browser.js`) },
  ]);
}

/** A page's script and the client library from source, as files by name. The first is the entry. */
export async function bundlePage(entry: string, alias: Alias[]): Promise<Map<string, string>> {
  const client = join(ROOT, 'packages/client/src/index.ts');
  const result = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    mode: 'development',
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: { alias: [...alias, { find: '@agent-gateway/client', replacement: client }] },
    build: { write: false, minify: false, rolldownOptions: { input: entry } },
  })) as Rolldown.RolldownOutput;
  const chunks = result.output.filter((each) => each.type === 'chunk');
  chunks.sort((one, other) => Number(other.isEntry) - Number(one.isEntry));
  return new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]));
}
