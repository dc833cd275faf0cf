import { describe, expect, it } from '@jest/globals';
import { parseTraceparent } from './traceparent.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

describe('parseTraceparent', () => {
  it('reads trace, span and flags', () => {
    expect(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-01`)).toEqual({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      flags: 1,
    });
  });

  it('reads a later version, which may have more parts', () => {
    const parent = { traceId: TRACE_ID, spanId: SPAN_ID, flags: 0xfe };
    expect(parseTraceparent(`cc-${TRACE_ID}-${SPAN_ID}-fe`)).toEqual(parent);
    expect(parseTraceparent(`cc-${TRACE_ID}-${SPAN_ID}-fe-what-ever`)).toEqual(parent);
  });

  it.each([
    undefined,
    [`00-${TRACE_ID}-${SPAN_ID}-01`],
    '',
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-1`,
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `cc-${TRACE_ID}-${SPAN_ID}-01x`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
    ` 00-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01\n`,
  ])('ignores %j', (value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });
});
