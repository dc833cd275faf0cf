import { createHash } from 'node:crypto';
import { Random } from '../soak/random.ts';

/** What a run is made of; `jest.config.js` sets and prints it. */
export const SEED = process.env.HOSTILE_SEED ?? '';

/** A source of random of its own for each thing that is drawn, so that no other one shifts it. */
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

/** One of the words of a list, each as likely as it stands there often. */
export function wordOf<Word extends string>(
  random: Random,
  list: readonly [Word, ...Word[]],
): Word {
  return random.pick(list);
}
