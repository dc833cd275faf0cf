import type { Series } from './interleave.ts';
import { spread, type Spread } from './statistics.ts';

/** The spread of each of these numbers over a series, and why the series has no more. */
export function summaryOf<Name extends string>(
  series: Series<Record<Name, number>> | undefined,
  names: readonly Name[],
): Record<Name, Spread> & { failure?: string } {
  const { values, failure } = series ?? { values: [] };
  const spreads = names.map((name) => [name, spread(values.map((each) => each[name]))]);
  return {
    ...(Object.fromEntries(spreads) as Record<Name, Spread>),
    ...(failure !== undefined && { failure }),
  };
}
