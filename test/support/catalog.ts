import {
  startCatalog as start,
  type Catalog,
  type CatalogOptions,
} from '../../local/catalog/catalog-server.ts';
import { addRealUpstream } from './contract/real-upstreams.ts';

export type { Catalog };

/** The catalog engine for one test file. It speaks Electric's protocol, which tests check. */
export async function startCatalog(options: CatalogOptions): Promise<Catalog> {
  const catalog = await start(options);
  addRealUpstream(catalog.url);
  return catalog;
}
