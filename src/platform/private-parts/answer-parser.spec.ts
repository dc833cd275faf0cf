import { beforeEach, describe, expect, it } from '@jest/globals';
import type { HeaderList } from '../http/header-list.ts';
import { AnswerParser } from './answer-parser.ts';

const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

interface Seen {
  heads: [number, HeaderList][];
  body: string;
}

describe('AnswerParser', () => {
  let seen: Seen;
  let parser: AnswerParser;

  beforeEach(() => {
    seen = { heads: [], body: '' };
    parser = new AnswerParser({
      onHead: (statusCode, headers) => seen.heads.push([statusCode, headers]),
      onBody: (chunk) => {
        seen.body += chunk.toString('latin1');
      },
    });
    parser.expect('GET');
  });

  function parse(text: string): string | undefined {
    const error = parser.parse(Buffer.from(text, 'latin1')) as NodeJS.ErrnoException | undefined;
    return error?.code ?? error?.message;
  }

  function next(method: 'GET' | 'HEAD' = 'GET'): void {
    seen.heads = [];
    seen.body = '';
    parser.expect(method);
  }

  it('gives status, headers as they came, and body', () => {
    expect(
      parse('HTTP/1.1 404 None\r\nETag: "\xe4"\r\nContent-LENGTH: 3\r\n\r\nn\xf6!'),
    ).toBeUndefined();
    expect(seen).toEqual({
      heads: [[404, ['ETag', '"\xe4"', 'Content-LENGTH', '3']]],
      body: 'n\xf6!',
    });
    expect([parser.isComplete, parser.keepsOpen, parser.hasExcess]).toEqual([true, true, false]);
  });

  it('gives the same however the bytes are cut', () => {
    const answer = `HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\nTrailer: t\r\n\r\n`;
    for (let at = 1; at < answer.length; at++) {
      next();
      expect([parse(answer.slice(0, at)), parser.isComplete]).toEqual([undefined, false]);
      expect([parse(answer.slice(at)), parser.isComplete]).toEqual([undefined, true]);
      expect(seen).toEqual({
        heads: [[200, ['X', 'y', 'Transfer-Encoding', 'chunked']]],
        body: 'abc0123456789abcdef',
      });
    }
    next();
    for (const byte of answer) expect(parse(byte)).toBeUndefined();
    expect([parser.isComplete, seen.body]).toEqual([true, 'abc0123456789abcdef']);
  });

  it('gives all headers of a head that Node hands over in pieces, and of the next ones', () => {
    const headers = Array.from({ length: 100 }, (_, i) => [`X-${i}`, String(i)]);
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    for (let round = 0; round < 3; round++) {
      next();
      expect(parse(`HTTP/1.1 204 None\r\n${lines}\r\n`)).toBeUndefined();
      expect(seen.heads).toEqual([[204, headers.flat()]]);
      next();
      expect(parse(HELLO)).toBeUndefined();
      expect(seen.heads).toEqual([[200, ['Content-Length', '5']]]);
    }
  });

  it('knows that an answer to HEAD has no body', () => {
    next('HEAD');
    expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')).toBeUndefined();
    expect([parser.isComplete, seen.body]).toEqual([true, '']);
    next();
    parse(HELLO);
    expect([parser.isComplete, seen.body]).toEqual([true, 'hello']);
  });

  it.each([204, 304])('knows that a %i has no body', (status) => {
    parse(`HTTP/1.1 ${status} X\r\nETag: "1"\r\n\r\n`);
    expect([parser.isComplete, parser.keepsOpen]).toEqual([true, true]);
  });

  it('passes over what only informs', () => {
    expect(
      parse(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n`),
    ).toBeUndefined();
    expect([parser.isComplete, seen.heads]).toEqual([false, []]);
    expect(parse(HELLO)).toBeUndefined();
    expect([parser.isComplete, seen.heads.length, seen.body]).toEqual([true, 1, 'hello']);
  });

  it('refuses another protocol', () => {
    expect(parse('HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx')).toMatch(
      /protocol/,
    );
    expect([parser.isComplete, seen.heads]).toEqual([false, []]);
  });

  it.each([
    ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ])('tells that the connection does not stay open behind %j', (answer) => {
    expect(parse(answer)).toBeUndefined();
    expect([parser.isComplete, parser.keepsOpen]).toEqual([true, false]);
  });

  it('takes the end of the connection for the end of a body that says no other', () => {
    expect(parse('HTTP/1.1 200 OK\r\n\r\nhel')).toBeUndefined();
    expect(parse('lo')).toBeUndefined();
    expect(parser.isComplete).toBe(false);
    expect(parser.finish()).toBeUndefined();
    expect([parser.isComplete, parser.keepsOpen, seen.body]).toEqual([true, false, 'hello']);
  });

  it.each([
    ['HTTP/1.1 200 OK\r\nContent-Len'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ])('tells that %j is cut', (answer) => {
    expect(parse(answer)).toBeUndefined();
    expect(parser.finish()).toMatchObject({ code: 'HPE_INVALID_EOF_STATE' });
    expect(parser.isComplete).toBe(false);
  });

  // One that came too early would be taken for the answer to the next read, and so on for ever.
  it.each([
    [HELLO],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'],
    [HELLO.slice(0, 20)],
    ['H'],
    ['HTTP/1.1 200 OK\r\n\r\nto the end'],
    ['HTTP/1.1 100 Continue\r\n\r\n'],
  ])('tells that %j came behind the answer', (excess) => {
    expect(parse(HELLO + excess)).toBeUndefined();
    expect([parser.isComplete, parser.hasExcess]).toEqual([true, true]);
    expect([seen.heads.length, seen.body]).toEqual([1, 'hello']);
  });

  it('takes an answer for whole whatever is behind it', () => {
    expect(parse(`${HELLO}!`)).toBe('HPE_INVALID_CONSTANT');
    expect([parser.isComplete, seen.body]).toEqual([true, 'hello']);
  });

  it.each([
    ['HELLO\r\n\r\n', 'HPE_INVALID_CONSTANT'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n',
      'HPE_UNEXPECTED_CONTENT_LENGTH',
    ],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'HPE_INVALID_TRANSFER_ENCODING',
    ],
    ['HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'HPE_INVALID_CONTENT_LENGTH'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 'HPE_INVALID_CHUNK_SIZE'],
    ['HTTP/1.1 200 OK\r\nA b: c\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
    ['HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
    [`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(66_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
  ])('refuses %#: %s', (answer, code) => {
    expect(parse(answer)).toBe(code);
    expect(parser.isComplete).toBe(false);
  });
});
