import type { Random } from '../soak/random.ts';
import {
  BROKEN,
  ENDLESS,
  EXACT,
  REFUSED,
  RESET_BEHIND,
  type AnswerPlan,
  type Behaviour,
  type Route,
} from './plan.ts';
import { oneIn, whole } from './seed.ts';

type List<T> = readonly [T, ...T[]];

const ANSWERED: readonly Behaviour[] = [...EXACT, ...REFUSED, ...BROKEN, ...RESET_BEHIND];
/** The forms of a complete response of the runtime, which the gateway buffers. */
const OF_RUNTIME: List<Behaviour> = [
  'length',
  'length',
  'chunked',
  'interim',
  'double',
  'surplus',
  'silent',
  'cut-head',
  'closed',
  'cut-body',
  'garbage',
  'unauthorized',
];
const FOR_HEAD: List<Behaviour> = [
  'length',
  'length',
  'interim',
  'double',
  'silent',
  'cut-head',
  'garbage',
  'unauthorized',
  'no-content',
];
const LARGE_BYTES = 52_428_800;

/** Plans what the upstream does with a request. */
export function planAnswer(
  random: Random,
  route: Route,
  method: string,
  isLast: boolean,
): AnswerPlan {
  const bytes = whole(random, 1, oneIn(random, 4) ? 300_000 : 3_000);
  if (route === 'command') return { behaviour: random.pick(OF_RUNTIME), bytes };
  if (method === 'HEAD') return { behaviour: random.pick(FOR_HEAD), bytes };
  // A request in the middle of others is not to hold up all the rest for long.
  if (isLast && oneIn(random, 6)) return { behaviour: random.pick(ENDLESS), bytes };
  const behaviour = oneIn(random, 3) ? 'length' : random.pick(ANSWERED as List<Behaviour>);
  if (!isLast && behaviour === 'silent') return { behaviour: 'closed', bytes };
  // Enough of these for one machine.
  if (behaviour === 'large')
    return oneIn(random, 2) ? { behaviour, bytes: LARGE_BYTES } : { behaviour: 'length', bytes };
  return { behaviour, bytes };
}
