import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';

const ROOT = join(import.meta.dirname, '../..');

/** What a page loads of the client, in bytes, minified and compressed with gzip. */
export interface ClientSizes {
  /** At once. */
  own: number;
  /** When it reads its first timeline, besides. */
  timeline: number;
  /** When it reads the catalog for the first time, besides. */
  catalog: number;
  /** When it lists runs for the first time, besides. */
  runs: number;
  /** When it asks for the first time what fails, besides. */
  failures: number;
}

/** Bundles a page that imports the built client, as an application does. */
export async function measureClient(): Promise<ClientSizes> {
  // Within the project, so that the client is found.
  const folder = mkdtempSync(join(ROOT, 'node_modules/.client-size-'));
  try {
    const entry = join(folder, 'page.js');
    writeFileSync(
      entry,
      "import { AgentGateway } from '@agent-gateway/client'; globalThis.gateway = AgentGateway;",
    );
    const { output } = (await build({
      configFile: false,
      root: folder,
      logLevel: 'error',
      build: { write: false, rolldownOptions: { input: entry } },
    })) as Rolldown.RolldownOutput;
    const chunks = output.filter((each) => each.type === 'chunk');
    const bytesOf = (isMeant: (chunk: Rolldown.OutputChunk) => boolean): number => {
      const meant = chunks.filter(isMeant);
      if (meant.length === 0) throw new Error('The client is not split as it was.');
      return meant.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
    };
    const holds = (name: string) => (chunk: Rolldown.OutputChunk) =>
      !chunk.isEntry && chunk.moduleIds.some((id) => id.includes(`node_modules/${name}/`));
    const isOf =
      (file: string) =>
      ({ isEntry, moduleIds }: Rolldown.OutputChunk) =>
        !isEntry && moduleIds.some((id) => id.endsWith(`/${file}.js`));
    const sizes = {
      own: bytesOf(({ isEntry }) => isEntry),
      timeline: bytesOf(holds('@durable-streams/client')),
      catalog: bytesOf(holds('@electric-sql/client')),
      runs: bytesOf(isOf('run-listing')),
      failures: bytesOf(isOf('failure-listing')),
    };
    const all = bytesOf(() => true);
    if (Object.values(sizes).reduce((sum, bytes) => sum + bytes) !== all) {
      throw new Error(`${JSON.stringify(sizes)} is not all: ${all}`);
    }
    return sizes;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
