import { describe, expect, it } from '@jest/globals';
import { headerValue, withHeaders } from './header-list.ts';

describe('withHeaders', () => {
  it('puts further headers in place of those of their name', () => {
    const headers = ['accept', '*/*', 'traceparent', 'a', 'x-own', '1', 'traceparent', 'b'];
    expect(withHeaders(headers, { traceparent: 'c', tracestate: 'd' })).toEqual([
      'accept',
      '*/*',
      'x-own',
      '1',
      'traceparent',
      'c',
      'tracestate',
      'd',
    ]);
  });

  it('leaves a header alone that is named as something every object has', () => {
    expect(withHeaders(['constructor', 'x', '__proto__', 'y'], {})).toEqual([
      'constructor',
      'x',
      '__proto__',
      'y',
    ]);
  });
});

describe('headerValue', () => {
  it('joins the lines of a name, in any case, and knows no other name', () => {
    const headers = ['Vary', 'a', 'etag', '1', 'vary', '', 'VARY', 'b'];
    expect(headerValue(headers, 'vary')).toBe('a, , b');
    expect(headerValue(headers, 'var')).toBeUndefined();
    expect(headerValue(['constructor', 'x'], '__proto__')).toBeUndefined();
  });
});
