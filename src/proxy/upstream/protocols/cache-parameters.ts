/** A parameter that keeps caches from repeating an old response, and does not affect the response itself. */
interface CacheParameter {
  /** The name with its equals sign. */
  start: string;
  value: RegExp;
}

/**
 * Electric chooses it partly at random, so readers of the same shape rarely send the same one: of 300 long-polls none was
 * shared. Servers read it as a number.
 */
export const CURSOR: CacheParameter = { start: 'cursor=', value: /^\d{1,15}$/ };

/** Electric's client sends a random one when its shape is gone. */
export const CACHE_BUSTER: CacheParameter = {
  start: 'cache-buster=',
  value: /^[A-Za-z0-9-]{1,64}$/,
};

/**
 * A target without the parameter. If it occurs more than once, or in another form, it stays: a server may refuse such a
 * request, and the refusal is for its reader alone.
 */
export function withoutParameter(target: string, { start, value }: CacheParameter): string {
  if (!target.includes(start)) return target;
  const queryAt = target.indexOf('?');
  const pairs = target.slice(queryAt + 1).split('&');
  const [pair, ...more] = pairs.filter((each) => each.startsWith(start));
  const isPlain = pair !== undefined && more.length === 0 && value.test(pair.slice(start.length));
  if (queryAt === -1 || !isPlain) return target;
  return target.slice(0, queryAt + 1) + pairs.filter((each) => each !== pair).join('&');
}
