import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RecordedModules {
  /** How to start a Node process. */
  environment: { NODE_OPTIONS: string };
  /** The addresses of all modules that it has loaded so far, imported or required, Node's own besides. */
  loaded(): Promise<string[]>;
  remove(): Promise<void>;
}

/**
 * Whether this Node can: with hooks of modules that are synchronous, 22.19 fails on packages of CommonJS ("request for
 * './index.js' is not in cache").
 */
export const canRecordModules = Number(process.versions.node.split('.')[0]) >= 24;

/** Records each module as a process loads it, because the process may end at any time. */
export async function recordModules(): Promise<RecordedModules> {
  const folder = await mkdtemp(join(tmpdir(), 'recorded-modules-'));
  const record = join(folder, 'loaded');
  const watch = join(folder, 'watch.mjs');
  await writeFile(
    watch,
    `import { appendFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     registerHooks({
       load(url, context, next) {
         appendFileSync(${JSON.stringify(record)}, url + '\\n');
         return next(url, context);
       },
     });`,
  );
  return {
    environment: { NODE_OPTIONS: `--import=${watch}` },
    loaded: async () => (await readFile(record, 'utf8')).split('\n').filter(Boolean),
    remove: () => rm(folder, { recursive: true }),
  };
}
