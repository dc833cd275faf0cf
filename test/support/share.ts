/**
 * So many of a suite's random rounds, or the share of them that `TEST_SHARE` asks for: CI runs a part of what `npm run test:long` runs
 * whole. Throws an Error for a share that is not above 0.
 */
export function shareOf(rounds: number): number {
  const share = Number(process.env.TEST_SHARE ?? 1);
  if (!(share > 0)) throw new Error(`TEST_SHARE=${process.env.TEST_SHARE} is not above 0`);
  return Math.ceil(rounds * share);
}

/** The share of them that `TEST_SHARE` asks for, or so many times that share, at random, in their order. All without it. */
export function sampleOf<T>(all: readonly T[], times = 1): T[] {
  const sample = [...all];
  if (process.env.TEST_SHARE === undefined) return sample;
  const most = shareOf(all.length * times);
  while (sample.length > most) sample.splice(Math.floor(Math.random() * sample.length), 1);
  return sample;
}
