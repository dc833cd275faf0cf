import { createHash } from 'node:crypto';
import { Random } from '../soak/random.ts';

/** A random generator for each property, so that a run of one property alone repeats its values. */
export function seededRandom(property: string): Random {
  const seed = process.env.FENCE_SEED ?? '';
  const digest = createHash('sha256').update(`${seed} ${property}`).digest();
  return new Random(digest.readUInt32LE());
}

export function oneIn(random: Random, count: number): boolean {
  return random.next() * count < 1;
}

/** At least 0, under `end`. */
export function whole(random: Random, end: number): number {
  return Math.floor(random.next() * end);
}

/** One of the words of a list. */
export function wordOf(random: Random, list: string): string {
  const [first = '', ...rest] = list.split(' ');
  return random.pick([first, ...rest]);
}
