import type { EntityRow } from '../../../client/src/index.ts';

/** The agents that this one spawned, those that they spawned, and so on; parents first. Nobody is their own descendant. */
export function descendantsOf(url: string, rows: readonly EntityRow[]): EntityRow[] {
  const children = Map.groupBy(rows, ({ parent }) => parent);
  const seen = new Set([url]);
  const found: EntityRow[] = [];
  for (let level = [url]; level.length > 0;) {
    const next = level.flatMap((parent) => children.get(parent) ?? []);
    const isNew = next.filter((row) => !seen.has(row.url) && seen.add(row.url));
    found.push(...isNew);
    level = isNew.map((row) => row.url);
  }
  return found;
}
