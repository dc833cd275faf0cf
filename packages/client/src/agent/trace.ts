import type { Context } from '@restatedev/restate-sdk';

const TRACE_HEADERS = ['traceparent', 'tracestate'];

/** The W3C trace context of the command, for the requests that it causes. */
export function traceOf(ctx: Pick<Context, 'request'>): Record<string, string> {
  const { headers } = ctx.request();
  const found = TRACE_HEADERS.map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
