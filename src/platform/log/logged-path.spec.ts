import { describe, expect, it } from '@jest/globals';
import { loggedPath } from './logged-path.ts';

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJkZWZhdWx0In0.c2lnbmF0dXJl_-0';

describe('loggedPath', () => {
  it.each([
    ['/streams/t/acme/agents/chat/a1/timeline', '/streams/t/acme/agents/chat/a1/timeline'],
    ['/', '/'],
    ['/streams/eyJ/x', '/streams/eyJ/x'],
    ['/a#secret', '/a'],
    ['http://user:secret@host/', '(no path)'],
    ['user:secret@host:443', '(no path)'],
    ['*', '(no path)'],
    ['', '(no path)'],
    [`/streams/x/${TOKEN}`, '/streams/x/(token)'],
    [`/streams/x&token=${TOKEN}&y`, '/streams/x&token=(token)&y'],
    [`/${TOKEN}/${TOKEN}`, '/(token)/(token)'],
    // Cut or mangled, it is still the best part of a token.
    [`/${TOKEN.slice(0, 40)}`, '/(token)'],
    [`/${'a'.repeat(490)}${TOKEN}`, `/${'a'.repeat(490)}(token)`],
    [`/${'a'.repeat(600)}`, `/${'a'.repeat(511)}`],
  ])('writes %s as %s', (path, logged) => {
    expect(loggedPath(path)).toBe(logged);
  });

  const encoded = (text: string): string =>
    text.replace(/[^/]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  const KEY = 'key-0123456789.of_a~back+end==';
  const BASE64_KEY = 'q0/Zr8yJ+2xW/1bA9==';
  const isKey = (text: string): boolean => [KEY, BASE64_KEY, KEY.slice(0, -2)].includes(text);

  // A token whose letters were percent-encoded stood in the log, and an API key in any form.
  it.each([
    [`/streams/x/${encoded(TOKEN)}/y`, '/streams/x/(token)/y'],
    [`/streams/x/%65yJ${TOKEN.slice(3)}`, '/streams/x/(token)'],
    [`/streams/x/${TOKEN.replaceAll('.', '%2E')}`, '/streams/x/(token)'],
    [`/streams/x/${encoded(encoded(TOKEN))}`, '/streams/x/(token)'],
    [`/streams/${KEY}`, '/streams/(key)'],
    [`/${KEY}/x`, '/(key)/x'],
    [`/streams/x&key=${KEY}&y`, '/streams/x&key=(key)&y'],
    [`/streams/Bearer%20${KEY}`, '/streams/Bearer (key)'],
    [`/streams/${KEY.slice(0, -2)}=`, '/streams/(key)'],
    [`/streams/${encoded(KEY)}`, '/streams/(key)'],
    [`/streams/${encoded(encoded(KEY))}/x`, '/streams/(key)/x'],
    [`/streams/${KEY.replace('-', '%2d')}`, '/streams/(key)'],
    [`/streams/t/${BASE64_KEY}`, '/streams/t/(key)'],
    [`/${BASE64_KEY}`, '/(key)'],
    [`/streams/${BASE64_KEY.replaceAll('/', '%2F')}`, '/streams/(key)'],
    [`/${'a'.repeat(500)}/${KEY}`, `/${'a'.repeat(500)}/(key)`],
    [`/${'a'.repeat(500)}/${encoded(KEY)}`, `/${'a'.repeat(500)}/(key)`],
    [`/${'a'.repeat(490)}/${encoded('x'.repeat(200))}`, `/${'a'.repeat(490)}/%78%78%78%78%78%78%7`],
    ['/streams/x%20y%zz', '/streams/x%20y%zz'],
    ['/streams/key-0123456789', '/streams/key-0123456789'],
  ])('writes %s as %s', (path, logged) => {
    expect(loggedPath(path, isKey)).toBe(logged);
  });

  it('asks little about a path that has no key, and not much about any', () => {
    let asked = 0;
    const count = (): boolean => {
      asked++;
      return false;
    };
    loggedPath('/streams/t/default/agents/chat/01m86ekx4tv2vje5ybxhv9nzs9/timeline', count);
    expect(asked).toBe(1);
    for (const segment of ['a', 'aB', 'x'.repeat(14), 'aB='.repeat(8), '%41', '='.repeat(14)]) {
      asked = 0;
      loggedPath(`/${`${segment}/`.repeat(16_000 / segment.length)}`, count);
      expect(asked).toBeLessThanOrEqual(32);
    }
  });
});
