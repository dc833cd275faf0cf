import { describe, expect, it } from '@jest/globals';
import { headerObject, withHeaders } from './header-list.ts';

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

describe('headerObject', () => {
  it('makes a list of the values of a name that comes more than once', () => {
    expect({ ...headerObject(['a', '1', 'b', '2', 'a', '3', 'a', '4']) }).toEqual({
      a: ['1', '3', '4'],
      b: '2',
    });
  });

  it('takes any name', () => {
    const object = headerObject(['__proto__', 'x', 'constructor', 'y']);
    expect(Object.keys(object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(object)).toBeNull();
  });
});
