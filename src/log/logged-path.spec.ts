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
});
