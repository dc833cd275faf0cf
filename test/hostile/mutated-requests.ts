import { Random } from '../soak/random.ts';
import { CREDENTIAL, garbage, mutate } from './mutations.ts';
import { checkedId } from './request-id.ts';

type List = readonly [string, ...string[]];

const METHODS: List = [
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
const TARGETS: List = [
  '/streams/t/a/ID/timeline?offset=-1',
  '/streams/t/a/ID/timeline?offset=now&live=long-poll',
  '/streams/t/b/timeline',
  '/streams/t/a/../b',
  '/streams/__ds/control',
  '/shapes/v1/shape?table=entities&offset=-1',
  "/shapes/v1/shape?table=entities&where=1%3D1)%20OR%20('a'%3D'a",
  '/registry/deployments',
  '/registry/services/ID',
  '/api/spawn',
  '/api/a/echo/ID/send',
  '/api/a/echo/e1/control',
  '/api/t/default/a/echo/e1/send',
  '/api/t/other/spawn',
  '/health',
  '/',
  '*',
  'http://elsewhere.test/streams/t/a',
];
const BODIES: List = ['', '{}', '{"type":"echo"}', '{"verb":"pause"}', '[1,2', '\u0000\u00ff'];
const MAX_MUTATIONS = 5;
const GARBAGE_SHARE = 0.1;

/** The id of a connection, which its targets contain. */
export function mutationId(index: number): string {
  return checkedId(`r0c${index}q0`);
}

/** The bytes of one connection. They depend on the seed and the index only. `CREDENTIAL` stands for a credential. */
export function mutatedRequest(seed: string, index: number, hasCredential: boolean): Buffer {
  const random = Random.for(seed, 'mutated', index);
  if (random.next() < GARBAGE_SHARE) return garbage(random);
  const id = mutationId(index);
  return mutate(random, plainRequest(random, id, hasCredential), random.whole(0, MAX_MUTATIONS));
}

function plainRequest(random: Random, id: string, hasCredential: boolean): Buffer {
  const body = random.pick(BODIES);
  const isChunked = random.next() < 0.3;
  const head = [
    `${random.pick(METHODS)} ${random.pick(TARGETS).replace('ID', id)} HTTP/1.1`,
    'Host: gateway.test',
    ...(hasCredential ? [`Authorization: Bearer ${CREDENTIAL}`] : []),
    ...(random.next() < 0.3 ? ['Idempotency-Key: fuzz'] : []),
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const payload = isChunked
    ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n${body === '' ? '' : '0\r\n\r\n'}`
    : body;
  return Buffer.from(`${head}\r\n\r\n${payload}`, 'utf8');
}
