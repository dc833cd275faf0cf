import { startCatalog } from './catalog-server.ts';
import type { Catalog } from './catalog-server.ts';

// The catalog engine as a process of its own: CATALOG_PORT (default 3000), CATALOG_DATA (the SQLite
// file, default `.local/catalog.sqlite`), CATALOG_SECRET (default none).
const { CATALOG_PORT, CATALOG_DATA, CATALOG_SECRET } = process.env;
const databasePath = CATALOG_DATA || '.local/catalog.sqlite';

try {
  const catalog = await startCatalog({
    port: Number(CATALOG_PORT || 3000),
    databasePath,
    ...(CATALOG_SECRET ? { secret: CATALOG_SECRET } : {}),
  });
  stopOnSignal(catalog);
  console.log(
    `catalog engine, a stand-in for Electric on one machine: listening on ${catalog.url}, rows in ${databasePath}`,
  );
} catch (error) {
  console.error(`catalog engine: not started: ${String(error)}`);
  process.exitCode = 1;
}

function stopOnSignal(catalog: Catalog): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void catalog.stop().then(() => process.exit(0)));
  }
}
