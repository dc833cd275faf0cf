import { createHash } from 'node:crypto';

/** A seeded generator (mulberry32), so that what is random can be run again. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** One for each purpose, so that a change of one does not shift the others. */
  static for(seed: string | undefined, ...purpose: (string | number)[]): Random {
    const digest = createHash('sha256')
      .update([seed, ...purpose].join(' '))
      .digest();
    return new Random(digest.readUInt32LE());
  }

  /** At least 0, under 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** At least `low`, under `end`. */
  whole(low: number, end: number): number {
    return Math.floor(this.between(low, end));
  }

  oneIn(count: number): boolean {
    return this.next() * count < 1;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** One of the words of a list. */
  word(list: string): string {
    const [first = '', ...rest] = list.split(' ');
    return this.pick([first, ...rest]);
  }
}
