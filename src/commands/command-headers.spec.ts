import { describe, expect, it } from '@jest/globals';
import { traceHeaders } from './command-headers.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traceHeaders', () => {
  it('takes traceparent and tracestate, and nothing else', () => {
    const headers = { traceparent: TRACEPARENT, tracestate: 'a=b, c=d', baggage: 'secret=1' };
    expect(traceHeaders(headers)).toEqual({ traceparent: TRACEPARENT, tracestate: 'a=b, c=d' });
  });

  it('takes a traceparent of a later version with more parts', () => {
    const traceparent = `cc${TRACEPARENT.slice(2)}-what-ever`;
    expect(traceHeaders({ traceparent })).toEqual({ traceparent });
  });

  it('drops a tracestate that stands alone', () => {
    expect(traceHeaders({ tracestate: 'a=b' })).toEqual({});
  });

  it.each([
    '',
    'x',
    TRACEPARENT.toUpperCase(),
    `${TRACEPARENT}, ${TRACEPARENT}`,
    TRACEPARENT.slice(0, -1),
    `${TRACEPARENT} `,
  ])('drops the malformed traceparent %j with its tracestate', (traceparent) => {
    expect(traceHeaders({ traceparent, tracestate: 'a=b' })).toEqual({});
  });
});
