import { createHash } from 'node:crypto';
import { Random } from '../soak/random.ts';

/** The seed of a run. `jest.config.js` sets and prints it. */
export const SEED = process.env.HOSTILE_SEED ?? '';

/** A random generator for each purpose, so that a change of one does not shift the others. */
export function randomFor(seed: string, ...place: (string | number)[]): Random {
  const digest = createHash('sha256')
    .update([seed, ...place].join(' '))
    .digest();
  return new Random(digest.readUInt32LE());
}

export function oneIn(random: Random, count: number): boolean {
  return random.next() * count < 1;
}

/** A whole number of at least `low`, under `end`. */
export function whole(random: Random, low: number, end: number): number {
  return Math.floor(random.between(low, end));
}

/** A random entry of a list. A repeated entry is more likely. */
export function wordOf<Word extends string>(
  random: Random,
  list: readonly [Word, ...Word[]],
): Word {
  return random.pick(list);
}
