import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { compactJson, parseExactly } from './json.ts';
import { plainLine, plainText } from './plain-text.ts';

describe('parseExactly and compactJson', () => {
  it.each([
    '{"n":12345678901234567890,"x":1.0,"y":1e400,"z":-0}',
    '[0.1,1E3,123456789012345678901234567890]',
    '{"__proto__":1,"a":{"b":[true,null,"\\ud800"]}}',
    '7',
  ])('give back %s as it was', (text) => {
    expect(compactJson(parseExactly(text))).toBe(text);
  });

  it('give back whatever JSON there is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(compactJson(parseExactly(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('write big integers, and no character that a terminal obeys', () => {
    expect(compactJson({ a: 123456789012345678901n })).toBe('{"a":123456789012345678901}');
    expect(compactJson('\u001b\u007f\u009b\u009f é')).toBe('"\\u001b\\u007f\\u009b\\u009f é"');
    expect(compactJson(undefined)).toBe('null');
  });
});

describe('plainText', () => {
  it('shows what would steer a terminal or reorder a line, and leaves the rest', () => {
    expect(plainText('a\u001b[31m\r\n\tb\u009b\u007f\u202e\u2066é👩‍💻\u0000')).toBe(
      'a\\u001b[31m\\u000d\n\tb\\u009b\\u007f\\u202e\\u2066é👩‍💻\\u0000',
    );
    expect(plainLine('a\n\tb')).toBe('a\\n b');
  });

  // They reorder what a terminal shows, and `--json` printed them as they came.
  it('escapes bidirectional characters, also in names', () => {
    const value = { 'a\u202e': '\u2066b\u009b' };
    const text = compactJson(value);
    expect(text).toBe('{"a\\u202e":"\\u2066b\\u009b"}');
    expect(JSON.parse(text)).toEqual(value);
  });
});
