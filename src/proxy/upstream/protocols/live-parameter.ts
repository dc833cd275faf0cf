const LIVE = /[?&]live=(?!false(?:&|$))([^&]*)/;
const FROM_NOW = /[?&]offset=now(?:&|$)/;

/** The first value of `live` in a query that is not `false`. Servers differ in which of several they read. */
export function liveValue(query: string): string | undefined {
  return query === '' ? undefined : LIVE.exec(query)?.[1];
}

/** The value of `live` in a target's query if it occurs exactly once, so that all servers read it alike. */
export function soleLiveValue(target: string): string | undefined {
  if (!target.includes('live=')) return undefined;
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return undefined;
  const pairs = target.slice(queryAt + 1).split('&');
  const modes = pairs.filter((pair) => pair.startsWith('live='));
  return modes.length === 1 ? modes[0]?.slice('live='.length) : undefined;
}

/** Whether a live read begins at the present, which is a different place for each reader. */
export function isFromNow(target: string): boolean {
  return FROM_NOW.test(target);
}
