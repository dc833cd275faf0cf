import { API_KEY } from '../support/credentials.ts';

/** An ambiguous request, as request smuggling uses it. */
export interface SmugglingForm {
  name: string;
  bytes: string;
  /** What reaches an upstream, in order: `METHOD target body`. */
  upstream: string[];
  /** The statuses that the client gets, in order. */
  statuses: number[];
}

const KEY = `Authorization: Bearer ${API_KEY}`;
/** The bytes that must never become a request of their own. */
const HIDDEN = `GET /streams/t/hidden HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;
const HELLO = 'POST /history/t/a hello';

function post(headers: string[], body: string): string {
  return ['POST /streams/t/a HTTP/1.1', 'Host: g', KEY, ...headers, '', body].join('\r\n');
}

function get(line: string, headers: string[] = []): string {
  return [line, 'Host: g', KEY, ...headers, '', ''].join('\r\n');
}

function refused(name: string, bytes: string, status = 400): SmugglingForm {
  return { name, bytes, upstream: [], statuses: [status] };
}

function passed(name: string, bytes: string, upstream = [HELLO]): SmugglingForm {
  return { name, bytes, upstream, statuses: upstream.map(() => 200) };
}

const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = '5\r\nhello\r\n0\r\n\r\n';

const LENGTHS: SmugglingForm[] = [
  refused(
    'CL.TE',
    post([`Content-Length: ${CHUNKS.length + HIDDEN.length}`, CHUNKED], CHUNKS + HIDDEN),
  ),
  refused('TE.CL', post([CHUNKED, 'Content-Length: 4'], CHUNKS + HIDDEN)),
  refused(
    'CL.TE with an unknown coding',
    post(['Content-Length: 5', 'Transfer-Encoding: xchunked'], `hello${HIDDEN}`),
  ),
  refused('two equal lengths', post(['Content-Length: 5', 'Content-Length: 5'], `hello${HIDDEN}`)),
  refused(
    'two lengths',
    post(['Content-Length: 5', `Content-Length: ${HIDDEN.length}`], `hello${HIDDEN}`),
  ),
  refused('a list of lengths', post(['Content-Length: 5, 5'], `hello${HIDDEN}`)),
  ...[
    '+5',
    '-5',
    '0x5',
    '5,5',
    '5 5',
    '5;a',
    '5.0',
    '5e0',
    '"5"',
    'five',
    '99999999999999999999',
    '18446744073709551621',
  ].map((length) =>
    refused(`Content-Length: ${length}`, post([`Content-Length: ${length}`], `hello${HIDDEN}`)),
  ),
  refused('an empty length', post(['Content-Length:'], `hello${HIDDEN}`)),
  passed('a length with zeros in front', post(['Content-Length: 005'], 'hello')),
  passed('a length between spaces', post(['Content-Length:  5\t'], 'hello')),
  refused('a space before the colon', post(['Content-Length : 5'], `hello${HIDDEN}`)),
  refused('a tab before the colon', post(['Content-Length\t: 5'], `hello${HIDDEN}`)),
  refused('a length that is folded', post(['Content-Length:', ' 5'], `hello${HIDDEN}`)),
  refused('a length hidden by folding', post(['X-A: a', ' Content-Length: 5'], 'hello')),
  refused('a length behind a bare line feed', post(['X-A: a\nContent-Length: 5'], 'hello')),
  refused('a length behind a bare carriage return', post(['X-A: a\rContent-Length: 5'], 'hello')),
  refused('a length behind a zero byte', post(['X-A: a\0Content-Length: 5'], 'hello')),
  refused('a header before the first', get('GET /streams/t/a HTTP/1.1\r\n Content-Length: 5')),
  {
    name: 'a length with an underscore',
    bytes: post(['Content_Length: 5'], HIDDEN),
    upstream: ['POST /history/t/a ', 'GET /history/t/hidden '],
    statuses: [200, 200],
  },
  passed(
    'a length that Connection names',
    post(['Content-Length: 5', 'Connection: Content-Length'], 'hello'),
  ),
  {
    name: 'a body that is longer than said',
    bytes: post(['Content-Length: 5'], 'hello[no request]\r\n\r\n'),
    upstream: [HELLO],
    statuses: [200, 400],
  },
];

const CODINGS: SmugglingForm[] = [
  ...[
    'xchunked',
    'chunked, chunked',
    'chunked, identity',
    'chunked;q=1',
    '"chunked"',
    'identity',
    'gzip, chunked',
    'identity, chunked',
    'chunked,',
    ', chunked',
    'chunkedx',
    'chunk',
    'cow',
    '',
  ].map((coding) =>
    refused(
      `Transfer-Encoding: ${coding}`,
      post([`Transfer-Encoding: ${coding}`], CHUNKS + HIDDEN),
    ),
  ),
  refused('two codings', post([CHUNKED, 'Transfer-Encoding: cow'], CHUNKS + HIDDEN)),
  refused('chunked twice', post([CHUNKED, CHUNKED], CHUNKS + HIDDEN)),
  refused(
    'a coding with a space before the colon',
    post(['Transfer-Encoding : chunked'], CHUNKS + HIDDEN),
  ),
  refused('a coding that is folded', post(['Transfer-Encoding:', ' chunked'], CHUNKS + HIDDEN)),
  refused(
    'a coding behind a vertical tab',
    post(['Transfer-Encoding: \x0bchunked'], CHUNKS + HIDDEN),
  ),
  refused('a coding behind a bare line feed', post(['X-A: a\nTransfer-Encoding: chunked'], CHUNKS)),
  passed('a coding in capitals', post(['TRANSFER-ENCODING: CHUNKED'], CHUNKS)),
  passed('a coding behind a tab', post(['Transfer-Encoding:\tchunked'], CHUNKS)),
  passed(
    'a coding that Connection names',
    post([CHUNKED, 'Connection: Transfer-Encoding'], CHUNKS),
  ),
  passed(
    'a coding in HTTP/1.0',
    post([CHUNKED, 'Connection: keep-alive'], CHUNKS + HIDDEN).replace('HTTP/1.1', 'HTTP/1.0'),
  ),
];

const CHUNK_FORMS: SmugglingForm[] = [
  passed('a chunk extension', post([CHUNKED], '5;a=b\r\nhello\r\n0\r\n\r\n')),
  passed('a quoted chunk extension', post([CHUNKED], '5;a="b"\r\nhello\r\n0\r\n\r\n')),
  passed('a chunk size with zeros in front', post([CHUNKED], '0000005\r\nhello\r\n000\r\n\r\n')),
  passed('trailers', post([CHUNKED, 'Trailer: X-A'], '5\r\nhello\r\n0\r\nX-A: b\r\n\r\n')),
  passed(
    'a credential among the trailers',
    post([CHUNKED], '5\r\nhello\r\n0\r\nAuthorization: x\r\nHost: elsewhere\r\n\r\n'),
  ),
  ...(
    [
      ['a size over 64 bits', 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
      ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
      ['a size with a sign', '+5\r\nhello\r\n0\r\n\r\n'],
      ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
      ['a size behind a space', ' 5\r\nhello\r\n0\r\n\r\n'],
      ['a size before a space', '5 \r\nhello\r\n0\r\n\r\n'],
      ['no size', '\r\nhello\r\n0\r\n\r\n'],
      ['a line feed behind the size', '5\nhello\r\n0\r\n\r\n'],
      ['a line feed behind the data', '5\r\nhello\n0\r\n\r\n'],
      ['a carriage return in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
      ['a line feed in an extension', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
      ['data that is longer than its size', '5\r\nhello!\r\n0\r\n\r\n'],
      ['a coding among the trailers', `5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n`],
      ['a length among the trailers', `5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n`],
      ['a bare line feed in the trailers', '5\r\nhello\r\n0\r\nX-A: b\n\r\n'],
    ] as const
  ).map(([name, body]) => refused(`chunks: ${name}`, post([CHUNKED], body + HIDDEN))),
];

const LINES: SmugglingForm[] = [
  // RFC 9112 §3 allows it: what stands between the spaces is judged and sent.
  passed('two spaces in the request line', get('GET  /streams/t/a HTTP/1.1'), [
    'GET /history/t/a ',
  ]),
  refused('a tab in the request line', get('GET\t/streams/t/a HTTP/1.1')),
  refused('a space in the target', get('GET /streams/t/a b HTTP/1.1')),
  refused('a space behind the version', get('GET /streams/t/a HTTP/1.1 ')),
  // Without a version there are no headers, and so no credential.
  refused('no version', 'GET /streams/t/a\r\n\r\n', 401),
  // Node's parser lets these pass; they are framed and answered as HTTP/1.1 is.
  passed('version 0.9', get('GET /streams/t/a HTTP/0.9'), ['GET /history/t/a ']),
  refused('version 1.2', get('GET /streams/t/a HTTP/1.2')),
  passed('version 2.0', get('GET /streams/t/a HTTP/2.0'), ['GET /history/t/a ']),
  refused('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  passed('another protocol', get('GET /streams/t/a RTSP/1.0'), ['GET /history/t/a ']),
  refused('the version in lower case', get('GET /streams/t/a http/1.1')),
  refused('lines that end in line feeds', `GET /streams/t/a HTTP/1.1\nHost: g\n${KEY}\n\n`),
  refused(
    'a request line that ends in a line feed',
    get('GET /streams/t/a HTTP/1.1').replace('\r\n', '\n'),
  ),
  refused('the absolute form', get('GET http://elsewhere.test/streams/t/a HTTP/1.1')),
  refused(
    'an absolute form that is no URL',
    get('GET http://elsewhere.test[/streams/t/a HTTP/1.1'),
  ),
  refused('the authority form', get('GET elsewhere.test:80 HTTP/1.1')),
  refused('an asterisk', get('OPTIONS * HTTP/1.1')),
  refused('an empty target', get('GET  HTTP/1.1')),
  refused('a method in lower case', get('get /streams/t/a HTTP/1.1')),
  refused('a method that nobody knows', get('BREW /streams/t/a HTTP/1.1')),
  refused('a zero byte in a value', get('GET /streams/t/a HTTP/1.1', ['X-A: a\0b'])),
  refused('a zero byte in a name', get('GET /streams/t/a HTTP/1.1', ['X\0A: b'])),
  refused('a line without a colon', get('GET /streams/t/a HTTP/1.1', ['X-A'])),
  refused('a name that is empty', get('GET /streams/t/a HTTP/1.1', [': a'])),
  refused('an encoded line end in the path', get('GET /streams/t/a%0d%0aX:%20y HTTP/1.1')),
  passed('an encoded line end in the query', get('GET /streams/t/a?x=%0d%0aX:%20y HTTP/1.1'), [
    'GET /history/t/a?x=%0d%0aX:%20y ',
  ]),
  refused('no host', `GET /streams/t/a HTTP/1.1\r\n${KEY}\r\n\r\n`),
];

const MEANINGS: SmugglingForm[] = [
  refused(
    'GET with a length',
    get('GET /streams/t/a HTTP/1.1', [`Content-Length: ${HIDDEN.length}`]) + HIDDEN,
  ),
  refused('GET with chunks', get('GET /streams/t/a HTTP/1.1', [CHUNKED]) + CHUNKS),
  refused('HEAD with a length', get('HEAD /streams/t/a HTTP/1.1', ['Content-Length: 5']) + 'hello'),
  passed('DELETE with chunks', get('DELETE /streams/t/a HTTP/1.1', [CHUNKED]) + CHUNKS, [
    'DELETE /history/t/a hello',
  ]),
  passed(
    'DELETE with a request in its body',
    get('DELETE /streams/t/a HTTP/1.1', [`Content-Length: ${HIDDEN.length}`]) + HIDDEN,
    [`DELETE /history/t/a ${HIDDEN}`],
  ),
  passed('a request in a body', post([`Content-Length: ${HIDDEN.length}`], HIDDEN), [
    `POST /history/t/a ${HIDDEN}`,
  ]),
  passed(
    'a request in a chunk',
    post([CHUNKED], `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`),
    [`POST /history/t/a ${HIDDEN}`],
  ),
  passed(
    'an upgrade with a body',
    post(['Upgrade: websocket', 'Connection: Upgrade', 'Content-Length: 5'], 'hello'),
  ),
  passed(
    'an upgrade and a request behind it',
    get('GET /streams/t/a HTTP/1.1', ['Upgrade: x', 'Connection: Upgrade']) + HIDDEN,
    ['GET /history/t/a '],
  ),
  passed(
    'an upgrade that Connection does not name, and a request behind it',
    post(['Upgrade: x', 'Content-Length: 5'], `hello${HIDDEN}`),
  ),
  passed(
    'a length behind a thousand headers',
    post([...Array.from({ length: 1_000 }, () => 'X-Forwarded-A:'), 'Content-Length: 5'], 'hello'),
  ),
  passed(
    'an upgrade to HTTP/2',
    get('GET /streams/t/a HTTP/1.1', [
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      'Connection: Upgrade, HTTP2-Settings',
    ]),
    ['GET /history/t/a '],
  ),
  passed('an expectation and no body', get('GET /streams/t/a HTTP/1.1', ['Expect: 100-continue']), [
    'GET /history/t/a ',
  ]),
  passed(
    'an expectation and its body at once',
    post(['Expect: 100-continue', 'Content-Length: 5'], 'hello'),
  ),
  passed('an expectation that nobody knows', post(['Expect: x', 'Content-Length: 5'], 'hello')),
  passed(
    'another method by a header',
    post(['X-HTTP-Method-Override: DELETE', 'Content-Length: 5'], 'hello'),
  ),
  passed('HTTP/1.0 without a host', `GET /streams/t/a HTTP/1.0\r\n${KEY}\r\n\r\n`, [
    'GET /history/t/a ',
  ]),
  passed('empty lines before a request', `\r\n\r\n${get('GET /streams/t/a HTTP/1.1')}`, [
    'GET /history/t/a ',
  ]),
  {
    name: 'CONNECT and a request',
    bytes: get('CONNECT elsewhere.test:80 HTTP/1.1') + HIDDEN,
    upstream: [],
    statuses: [400],
  },
  passed('two requests behind each other', post(['Content-Length: 5'], 'hello') + HIDDEN, [
    HELLO,
    'GET /history/t/hidden ',
  ]),
];

export const SMUGGLING_FORMS = [...LENGTHS, ...CODINGS, ...CHUNK_FORMS, ...LINES, ...MEANINGS];
