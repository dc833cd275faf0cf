import type { Random } from '../soak/random.ts';

/** What a mutation puts in: bytes that one parser or another takes for something else. */
const MORSELS: readonly [string, ...string[]] = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%2e%2e',
  '%2e%2e%2f',
  '%252e',
  '%00',
  '%',
  '..',
  '//',
  '\\',
  '#',
  '?',
  ';',
  '\u00e9',
  '\u0085',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length: -1\r\n',
  'Expect: 100-continue\r\n',
  'Expect: something\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Connection: close, Authorization, Content-Length\r\n',
  'Host: elsewhere.test\r\n',
  'X-Forwarded-Host: elsewhere.test\r\n',
  'Idempotency-Key: \u00ff\r\n',
  'Trailer: X\r\n',
  'traceparent: 00-zz\r\n',
  'x'.repeat(20_000),
  '0\r\n\r\n',
  'ffffffff\r\n',
  'HTTP/1.0',
  'HTTP/2.0',
  'GET / HTTP/1.1\r\n\r\n',
  '{"type":"echo","type":"x"}',
  '__proto__',
];

const METHODS: readonly [string, ...string[]] = [
  'GET',
  'HEAD',
  'PUT',
  'POST',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'QUERY',
];

const TARGETS: readonly [string, ...string[]] = [
  '/streams/t/a/timeline?offset=-1',
  '/streams/t/a/timeline?offset=now&live=long-poll',
  '/streams/t/b/timeline',
  '/streams/t/a/../b',
  '/streams/__ds/control',
  '/shapes/v1/shape?table=entities&offset=-1',
  "/shapes/v1/shape?table=entities&where=1%3D1)%20OR%20('a'%3D'a",
  '/registry/deployments',
  '/registry/services/x',
  '/api/spawn',
  '/api/a/echo/e1/send',
  '/api/a/echo/e1/control',
  '/api/t/default/a/echo/e1/send',
  '/api/t/other/spawn',
  '/health',
  '/',
  '*',
  'http://elsewhere.test/streams/t/a',
];

const BODIES: readonly [string, ...string[]] = [
  '',
  '{}',
  '{"type":"echo"}',
  '{"verb":"pause"}',
  '[1,2',
  '\u0000\u00ff',
];

/** A request that is right but for what the mutations do to it. */
export function fuzzRequest(random: Random, credential: string | undefined): Buffer {
  const body = random.pick(BODIES);
  const isChunked = random.next() < 0.3;
  const head = [
    `${random.pick(METHODS)} ${random.pick(TARGETS)} HTTP/1.1`,
    'Host: gateway.test',
    ...(credential === undefined ? [] : [`Authorization: Bearer ${credential}`]),
    ...(random.next() < 0.3 ? ['Idempotency-Key: fuzz'] : []),
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const payload = isChunked
    ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n${body === '' ? '' : '0\r\n\r\n'}`
    : body;
  let bytes = Buffer.from(`${head}\r\n\r\n${payload}`, 'utf8');
  for (let left = Math.floor(random.between(0, 5)); left > 0; left--) {
    bytes = mutate(random, bytes);
  }
  return bytes;
}

/** Bytes that are no HTTP at all. */
export function garbage(random: Random): Buffer {
  return Buffer.from(
    Array.from({ length: Math.floor(random.between(1, 400)) }, () => random.between(0, 256)),
  );
}

function mutate(random: Random, bytes: Buffer): Buffer<ArrayBuffer> {
  const at = Math.floor(random.between(0, bytes.length));
  const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (Math.floor(random.between(0, 6))) {
    case 0: {
      const flipped = Buffer.from(bytes);
      flipped[at] = Math.floor(random.between(0, 256));
      return flipped;
    }
    case 1:
      return Buffer.concat([before, Buffer.from(random.pick(MORSELS)), behind]);
    case 2:
      return Buffer.concat([before, behind.subarray(Math.floor(random.between(1, 20)))]);
    case 3:
      return Buffer.concat([before, behind.subarray(0, 40), behind]);
    case 4: {
      const lines = bytes.toString('latin1').split('\r\n');
      const line = random.pick(lines as [string, ...string[]]);
      lines.splice(Math.floor(random.between(0, lines.length)), 0, line);
      return Buffer.from(lines.join('\r\n'), 'latin1');
    }
    default:
      return Buffer.concat([before, garbage(random), behind]);
  }
}
