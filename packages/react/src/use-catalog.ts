import { useMemo, useSyncExternalStore } from 'react';
import type { AgentGateway, CatalogOptions, EntityRow, LiveState } from '@agent-gateway/client';
import { LiveStore, storeOf, type ReadState } from './live-store.ts';

/** Which rows `useCatalog` reads. */
export type CatalogQuery = Pick<CatalogOptions, 'table' | 'where' | 'params' | 'columns'>;

/** What `useCatalog` returns. */
export interface CatalogState<R = EntityRow> extends ReadState {
  /** All rows that match. */
  rows: readonly R[];
}

class CatalogStore extends LiveStore<CatalogState> {
  readonly #gateway: AgentGateway;
  readonly #query: CatalogQuery;
  #rows: readonly EntityRow[] = [];

  constructor(gateway: AgentGateway, query: CatalogQuery) {
    super({ rows: [], connection: 'connecting', error: undefined });
    this.#gateway = gateway;
    this.#query = query;
  }

  protected read(signal: AbortSignal, onState: (state: LiveState) => void): Promise<void> {
    return this.#gateway.catalog({ ...this.#query, signal, onState }).subscribe((rows) => {
      this.#rows = rows;
      this.changed();
    });
  }

  protected next(state: CatalogState): CatalogState {
    return { ...state, rows: this.#rows };
  }
}

/** The rows of the live catalog that match. The query is compared by its content. On a server there are none. */
export function useCatalog<R extends EntityRow = EntityRow>(
  gateway: AgentGateway,
  query: CatalogQuery = {},
): CatalogState<R> {
  const text = JSON.stringify(query);
  const store = useMemo(() => {
    const own = JSON.parse(text) as CatalogQuery;
    return storeOf(gateway, `catalog ${text}`, () => new CatalogStore(gateway, own));
  }, [gateway, text]);
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getServerState);
  return state as unknown as CatalogState<R>;
}
