/**
 * Measures everything once a round, one after the other, each round beginning with another one: what
 * changes on the machine meanwhile meets all alike. Values by id, in the order of the rounds.
 */
export async function interleave<Item extends { id: string }, Value>(
  items: readonly Item[],
  rounds: number,
  measure: (item: Item, round: number) => Promise<Value>,
): Promise<Map<string, Value[]>> {
  const values = new Map<string, Value[]>(items.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < items.length; turn++) {
      const item = items[(turn + round) % items.length];
      if (item) values.get(item.id)?.push(await measure(item, round));
    }
  }
  return values;
}
