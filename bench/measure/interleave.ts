/** The repeated measurements of one contender. */
export interface Series<Value> {
  values: Value[];
  /** Why there are no more; undefined where none failed. */
  failure?: string;
}

/**
 * Measures everything once a round, one after the other, each round beginning with another one: what
 * changes on the machine meanwhile meets all alike. One that fails is not measured again. By id.
 */
export async function interleave<Item extends { id: string }, Value>(
  items: readonly Item[],
  rounds: number,
  measure: (item: Item, round: number) => Promise<Value>,
): Promise<Map<string, Series<Value>>> {
  const all = new Map<string, Series<Value>>(items.map(({ id }) => [id, { values: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < items.length; turn++) {
      const item = items[(turn + round) % items.length];
      const series = item && all.get(item.id);
      if (!item || !series || series.failure !== undefined) continue;
      try {
        series.values.push(await measure(item, round));
      } catch (error) {
        series.failure = error instanceof Error ? error.message : String(error);
      }
    }
  }
  return all;
}
