import type { AnswerListener } from './answer-parser.ts';

/**
 * Tries out the private parts of Node that the gateway uses. Resolves with a description of the problem, or
 * undefined. Only this file imports them at the start, because on another Node an import may already fail.
 */
export async function privatePartsProblem(): Promise<string | undefined> {
  if (await parserWorks().catch(() => false)) return undefined;
  return `does not work on this Node, ${process.version}: its HTTP parser is another than expected`;
}

/**
 * Parses one response with a length, one in chunks, and bytes that are not HTTP, all from one buffer, as connections
 * do. A piece of a body must survive the next read: a reader would get the bytes of another one.
 */
async function parserWorks(): Promise<boolean> {
  const { AnswerParser } = await import('./answer-parser.ts');
  const seen: unknown[] = [];
  const listener: AnswerListener = {
    onHead: (statusCode, headers) => seen.push(statusCode, headers),
    onBody: (chunk) => seen.push(chunk),
  };
  const parser = new AnswerParser(listener);
  const received = Buffer.alloc(MAX_TEXT_BYTES);
  const parse = (text: string): Error | undefined =>
    parser.parse(received.fill(0).subarray(0, received.write(text, 'latin1')));
  const isParsed = (text: string): boolean => {
    parser.expect('GET');
    const isFine = parse(text) === undefined;
    return isFine && parser.isComplete && parser.keepsOpen && !parser.hasExcess;
  };
  const areParsed =
    isParsed('HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 2\r\n\r\nhi') &&
    isParsed('HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nho\r\n0\r\n\r\n');
  const isRefused = parse('no answer\r\n\r\n') !== undefined;
  parser.close();
  const texts = seen.map((each) => (Buffer.isBuffer(each) ? each.toString('latin1') : each));
  return areParsed && isRefused && JSON.stringify(texts) === AS_SEEN;
}

const MAX_TEXT_BYTES = 256;
const AS_SEEN = JSON.stringify([
  200,
  ['A', '1', 'Content-Length', '2'],
  'hi',
  404,
  ['Transfer-Encoding', 'chunked'],
  'ho',
]);
