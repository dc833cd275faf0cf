import { describe, expect, it } from '@jest/globals';
import { traceHeaders } from './command-headers.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traceHeaders', () => {
  it('takes traceparent and tracestate, and nothing else', () => {
    const headers = { traceparent: TRACEPARENT, tracestate: 'a=b, c=d', baggage: 'secret=1' };
    expect(traceHeaders(headers)).toEqual({ traceparent: TRACEPARENT, tracestate: 'a=b, c=d' });
  });

  it('drops a tracestate that stands alone', () => {
    expect(traceHeaders({ tracestate: 'a=b' })).toEqual({});
  });

  // traceparent.spec.ts has what is malformed.
  it('drops a malformed traceparent with its tracestate', () => {
    const traceparent = `${TRACEPARENT} `;
    expect(traceHeaders({ traceparent, tracestate: 'a=b' })).toEqual({});
  });
});
