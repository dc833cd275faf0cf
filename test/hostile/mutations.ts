import type { Random } from '../soak/random.ts';

/** The bytes that a mutation inserts. Some parsers misread them. */
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
  'x'.repeat(40_000),
  'x'.repeat(70_000),
  '0\r\n\r\n',
  'ffffffff\r\n',
  'HTTP/1.0',
  'HTTP/2.0',
  'GET / HTTP/1.1\r\n\r\n',
  '{"type":"echo","type":"x"}',
  '__proto__',
];

/**
 * Stands for a credential while bytes are mutated. A read token is another one in each run, and another length of it
 * would move every mutation behind.
 */
export const CREDENTIAL = 'Credential-Of-The-Client';

/** Replaces the placeholder of the credential, if the mutations left it whole. */
export function withCredential(bytes: Buffer, credential: string | undefined): Buffer {
  return Buffer.from(
    bytes.toString('latin1').replaceAll(CREDENTIAL, credential ?? CREDENTIAL),
    'latin1',
  );
}

/** Applies this many mutations to the bytes. */
export function mutate(random: Random, bytes: Buffer, mutations: number): Buffer {
  let mutated = bytes;
  for (let left = mutations; left > 0; left--) mutated = mutateOnce(random, mutated);
  return mutated;
}

/** Bytes that are not HTTP. */
export function garbage(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.whole(1, 400) }, () => random.between(0, 256)));
}

function mutateOnce(random: Random, bytes: Buffer): Buffer<ArrayBuffer> {
  const at = random.whole(0, bytes.length);
  const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.whole(0, 6)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      flipped[at] = random.whole(0, 256);
      return flipped;
    }
    case 1:
      return Buffer.concat([before, Buffer.from(random.pick(MORSELS)), behind]);
    case 2:
      return Buffer.concat([before, behind.subarray(random.whole(1, 20))]);
    case 3:
      return Buffer.concat([before, behind.subarray(0, 40), behind]);
    case 4: {
      const lines = bytes.toString('latin1').split('\r\n');
      const line = random.pick(lines as [string, ...string[]]);
      lines.splice(random.whole(0, lines.length), 0, line);
      return Buffer.from(lines.join('\r\n'), 'latin1');
    }
    default:
      return Buffer.concat([before, garbage(random), behind]);
  }
}
