import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { context, createTraceState, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { tracedFetch } from './traced-fetch.ts';

const SPAN = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
};
const TRACEPARENT = `00-${SPAN.traceId}-${SPAN.spanId}-01`;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/** What a server would get, in the active span. */
async function sent(
  span: Parameters<typeof trace.setSpanContext>[1] | undefined,
  ...[input, init]: Parameters<typeof fetch>
): Promise<Record<string, string>> {
  let request: Request | undefined;
  const traced = tracedFetch((...args) => {
    request = new Request(...args);
    return Promise.resolve(new Response());
  });
  const active = span ? trace.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT;
  // After an await, as in the client.
  await context.with(active, async () => {
    await Promise.resolve();
    await traced(input, init);
  });
  return Object.fromEntries(request?.headers ?? []);
}

describe('tracedFetch', () => {
  const URL = 'https://gateway.example/';
  const headers = { authorization: 'Bearer k' };

  it('adds the active span to the headers of a request', async () => {
    expect(await sent(SPAN, URL, { headers })).toEqual({ ...headers, traceparent: TRACEPARENT });
    expect(await sent(SPAN, new Request(URL, { headers }))).toEqual({
      ...headers,
      traceparent: TRACEPARENT,
    });
  });

  it('says whether the trace is recorded, and passes the state of its vendors', async () => {
    const traceState = createTraceState('vendor=value,b=c');
    expect(await sent({ ...SPAN, traceFlags: 0, traceState }, URL)).toEqual({
      traceparent: TRACEPARENT.replace(/1$/, '0'),
      tracestate: 'vendor=value,b=c',
    });
  });

  it.each([
    ['there is no active span', undefined],
    ['the span belongs to no trace', { ...SPAN, traceId: '0'.repeat(32) }],
  ])('changes nothing if %s', async (_, span) => {
    expect(await sent(span, URL, { headers })).toEqual(headers);
  });
});
