import { join } from 'node:path';
import { build, type Rolldown } from 'vite';

const ROOT = join(import.meta.dirname, '../../..');
const modules = (name: string): string => join(ROOT, 'node_modules', name);

/** The page's script with one version of React in its development build, as files by name. The first is the entry. */
export async function bundlePage(version: 18 | 19): Promise<Map<string, string>> {
  const suffix = version === 18 ? '-18' : '';
  const result = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    mode: 'development',
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: {
      alias: [
        { find: /^react$/, replacement: modules(`react${suffix}`) },
        { find: /^react-dom$/, replacement: modules(`react-dom${suffix}`) },
        { find: /^react-dom\/client$/, replacement: modules(`react-dom${suffix}/client.js`) },
        {
          find: /^react-dom\/server$/,
          replacement: modules(`react-dom${suffix}/server.browser.js`),
        },
        { find: '@agent-gateway/client', replacement: join(ROOT, 'packages/client/src/index.ts') },
      ],
    },
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: join(import.meta.dirname, 'page-script.ts') },
    },
  })) as Rolldown.RolldownOutput;
  const chunks = result.output.filter((each) => each.type === 'chunk');
  chunks.sort((one, other) => Number(other.isEntry) - Number(one.isEntry));
  return new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]));
}
