import { BEHAVIOURS, type Behaviour, type BehaviourName } from './behaviours.ts';
import { CREDENTIAL } from './mutations.ts';
import { repeated } from './pattern.ts';
import { BASES } from './recording-upstream.ts';

export const MAX_BODY_BYTES = 65_536;
/** The path that the read tokens of the crowd open. */
export const TOKEN_PREFIX = '/streams/t';
/** Stands for the id of an exchange, and is as long as every id. */
export const ID = 'e000000x';

export type Credential = 'key' | 'token' | 'expiring' | 'expired' | 'wrong' | 'none';

/** A request, what the upstream does with it, and which answers are right. */
export interface Exchange {
  name: string;
  credential: Credential;
  /** All of its bytes. */
  request: string;
  /** What may reach the upstream: method and target, and the body; and what is done then. */
  upstream?: { line: string; body: string; behaviour: Behaviour };
  /** The statuses of the gateway's own answers that are right. */
  own: readonly number[];
  /** Nothing is asked behind it, because its connection may end or wait. */
  isLast?: boolean;
  /** Node's parser takes no head of it. */
  isUnparsed?: boolean;
}

interface Asked {
  line: string;
  headers?: readonly string[];
  body?: string;
  credential?: Credential;
}

const BODY = repeated(`<${ID}>`, 0, 40_000).toString();
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** The forms of a request body. */
const FORMS = [
  { headers: [LENGTH], body: BODY },
  {
    headers: [CHUNKED],
    body: `${chunk(BODY.slice(0, 9_999))}${chunk(BODY.slice(9_999))}0\r\n\r\n`,
  },
  { headers: [LENGTH, 'Expect: 100-continue'], body: BODY },
  {
    headers: [CHUNKED, 'Trailer: X-Trailer, Authorization'],
    body: `${chunk(BODY)}0\r\nX-Trailer: x\r\nAuthorization: Bearer x\r\n\r\n`,
  },
] as const;

const READS = [
  `GET /streams/t/${ID}?offset=-1`,
  `GET /streams/t/${ID}?offset=1_1&live=long-poll`,
  `GET /streams/t/${ID}?offset=1_1&live=sse`,
  `GET /streams/t/${ID}?offset=now&live=sse`,
  `GET /shapes/v1/shape?table=entities&offset=-1&handle=${ID}`,
  `GET /registry/deployments/${ID}`,
];
const WRITES = [`POST /streams/t/${ID}`, `PUT /streams/t/${ID}`, `PATCH /registry/x/${ID}`];
const COMMAND = `POST /api/a/hostile/${ID}/send`;

const ALL = Object.keys(BEHAVIOURS) as BehaviourName[];
const OF_HEAD: BehaviourName[] = [
  'length',
  'interim',
  'double',
  'no content',
  'silent',
  'cut head',
  'garbage',
  'unauthorized',
];
/** Of an answer of the runtime, which the gateway reads to its end. */
const OF_COMMAND: BehaviourName[] = [
  'length',
  'chunked',
  'interim',
  'double',
  'surplus',
  'silent',
  'closed',
  'cut head',
  'cut body',
  'garbage',
  'unauthorized',
];

function requestText({ line, headers = [], body = '', credential = 'key' }: Asked): string {
  return [
    `${line} HTTP/1.1`,
    'Host: gateway.test',
    `X-Request-Id: ${ID}`,
    ...(credential === 'none' ? [] : [`Authorization: Bearer ${CREDENTIAL}`, 'Cookie: session=1']),
    ...headers,
    '',
    body,
  ].join('\r\n');
}

/** The method and the target with which a request reaches the upstream. */
function upstreamLine(line: string): string {
  return line
    .replace('/streams', BASES[0])
    .replace('/shapes', BASES[1])
    .replace(/\/api\/a\/(.*)\/send$/, `${BASES[2]}/$1/wake/send`)
    .replace('/registry', BASES[3]);
}

/** A request that the gateway passes on. */
function passed(asked: Asked, name: BehaviourName, body = ''): Exchange {
  const behaviour: Behaviour = BEHAVIOURS[name];
  const { line, credential = 'key' } = asked;
  const isRead = /^(?:GET|HEAD) /.test(line);
  const isCommand = line === COMMAND;
  const own: number[] = [];
  if (isCommand && behaviour.kind === 'exact') own.push(202);
  // A request with a body is never sent twice, also where its connection was just being closed.
  if (!isRead || !['exact', 'endless'].includes(behaviour.kind)) own.push(502);
  return {
    name: `${line} (${name})`,
    credential,
    request: requestText(asked),
    upstream: { line: upstreamLine(line), body, behaviour },
    own,
    isLast: name === 'silent' || !['exact', 'refused'].includes(behaviour.kind),
  };
}

/** A request that the gateway answers by itself. */
function answered(status: number, asked: Asked, isLast = false): Exchange {
  const { line, credential = 'key', headers = [] } = asked;
  const name = `${line} ${[credential, ...headers].join(', ')}`;
  return { name, credential, request: requestText(asked), own: [status], isLast };
}

const STREAM = `GET /streams/t/${ID}`;
const OVER_CAP = 'x'.repeat(MAX_BODY_BYTES + 1);

export const EXCHANGES: readonly Exchange[] = [
  ...READS.flatMap((line, index) =>
    ALL.map((name) => {
      // Of each pair of streams one read comes with a token.
      const credential = line.includes(TOKEN_PREFIX) && index % 2 === 1 ? 'token' : 'key';
      return passed({ line, credential }, name);
    }),
  ),
  ...OF_HEAD.map((name) => passed({ line: `HEAD /streams/t/${ID}` }, name)),
  ...WRITES.flatMap((line) =>
    ALL.map((name, index) => ({ line, name, form: FORMS[index % 4] })),
  ).map(({ line, name, form }) => passed({ line, ...form }, name, BODY)),
  ...WRITES.flatMap((line) => FORMS.map((form) => passed({ line, ...form }, 'length', BODY))),
  ...FORMS.map((form) => passed({ line: COMMAND, ...form }, 'length', BODY)),
  ...OF_COMMAND.flatMap((name) =>
    [[], [`Idempotency-Key: ${ID}`]].map((key) =>
      passed({ line: COMMAND, headers: [LENGTH, ...key], body: BODY }, name, BODY),
    ),
  ),
  ...(['none', 'wrong', 'expired'] as const).flatMap((credential) =>
    [...READS.slice(0, 1), ...READS.slice(-2), `DELETE /streams/t/${ID}`, COMMAND].map((line) =>
      answered(401, { line, credential }),
    ),
  ),
  ...[`GET /registry/deployments/${ID}`, COMMAND].map((line) =>
    answered(401, { line, credential: 'token' }),
  ),
  ...[`GET /streams/other/${ID}`, `DELETE /streams/t/${ID}`].map((line) =>
    answered(403, { line, credential: 'token' }),
  ),
  answered(200, { line: 'GET /health', credential: 'none' }),
  ...[
    '/streams/t/../',
    '/streams/t/%2e%2e/',
    '/streams//t/',
    '/streams/t/%2fa/',
    '/shapes/%00/',
    'http://elsewhere.test/streams/t/',
    '/registry/a%5cb/',
  ].map((target) => answered(400, { line: `GET ${target}${ID}` })),
  answered(400, { line: `CONNECT ${ID}.test:80` }, true),
  answered(400, { line: STREAM, headers: ['Content-Length: 5'], body: 'hello' }, true),
  { ...answered(400, { line: `GET\t/streams/t/${ID}` }, true), isUnparsed: true },
  ...[WRITES[0]!, COMMAND].flatMap((line) => [
    answered(413, { line, headers: [`Content-Length: ${OVER_CAP.length}`], body: OVER_CAP }, true),
    answered(413, { line, headers: [CHUNKED], body: `${chunk(OVER_CAP)}0\r\n\r\n` }, true),
  ]),
];

/** Live reads whose token ends before the answer does. */
export const EXPIRING: readonly Exchange[] = (
  [
    [READS[1]!, 'silent'],
    [READS[2]!, 'endless events'],
    [READS[3]!, 'endless events'],
  ] as const
).map(([line, name]) => ({
  ...passed({ line, credential: 'expiring' }, name),
  own: [401],
}));
