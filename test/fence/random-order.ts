import type { Random } from '../soak/random.ts';
import { mutated } from './mutation.ts';

/** A random value of `subset__order_by`, which is sometimes not allowed. */
export function randomOrder(random: Random): string {
  const items = Array.from({ length: 1 + random.whole(0, 3) }, () => item(random));
  const order = items.join(random.pick([', ', ',', ' ,\n']));
  return random.oneIn(3) ? mutated(random, order) : order;
}

function item(random: Random): string {
  if (random.oneIn(20))
    return random.pick(['(select pay from payroll)', '1', 'pay + 1', 'lower(id)']);
  const name = random.word('id ID "id" type "type" pay made status done nulls "x y" "x""y" null');
  const direction = random.pick(['', '', ' ASC', ' DESC', ' desc', ' USING <']);
  return name + direction + random.pick(['', '', ' NULLS FIRST', ' nulls last', ' NULLS']);
}
