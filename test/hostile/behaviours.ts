import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { ANSWER_FOR, EVENTS, repeated } from './pattern.ts';
import type { UpstreamRequest } from './recording-upstream.ts';

const DRIP_PIECES = 12;
const DRIP_INTERVAL_MS = 20;
const PIECE_BYTES = 65_536;
/** So few that an answer comes in one piece with what is behind it. */
const ONE_PIECE_BYTES = 900;

/** The answer that an upstream gives or begins. */
export interface Planned {
  id: string;
  /** What the body repeats. */
  unit: string;
  bytes: number;
}

/** How an upstream treats a request, and what becomes of its answer. */
export interface Behaviour {
  /**
   * `exact` reaches the client unchanged. `refused` is replaced by an error of the gateway. `broken` begins, and the client
   * must notice that it breaks. `lost` is right and may get lost, because the connection is reset behind it. `endless`
   * begins and never ends.
   */
  kind: 'exact' | 'refused' | 'broken' | 'lost' | 'endless';
  text?: (answer: Planned, body: string) => string;
  /** What follows the text. */
  after?: 'close' | 'reset' | 'drip' | 'flood';
  status?: number;
  /** Of the body, where that matters. */
  bytes?: number;
  /** Answers before the body of the request is there. */
  isEarly?: boolean;
  isEvents?: boolean;
}

const head = (id: string, headers: string, status = '200 OK', type = 'text/plain'): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${ANSWER_FOR}: ${id}\r\n${headers}\r\n\r\n`;
const withLength = ({ id, bytes }: Planned, body: string): string =>
  head(id, `Content-Length: ${bytes}`) + body;
const chunk = ({ bytes }: Planned, body: string): string => `${bytes.toString(16)}\r\n${body}\r\n`;
const chunked = (answer: Planned, body: string): string =>
  head(answer.id, 'Transfer-Encoding: chunked') + chunk(answer, body);
const unfinished = ({ id, bytes }: Planned, body: string): string =>
  head(id, `Content-Length: ${bytes + 1}`) + body;

export const BEHAVIOURS = {
  length: { kind: 'exact', text: withLength },
  early: { kind: 'exact', text: withLength, isEarly: true },
  drip: { kind: 'exact', text: withLength, after: 'drip' },
  chunked: { kind: 'exact', text: (answer, body) => `${chunked(answer, body)}0\r\n\r\n` },
  events: {
    kind: 'exact',
    text: (answer, body) =>
      `${head(answer.id, 'Transfer-Encoding: chunked', '200 OK', EVENTS)}${chunk(answer, body)}0\r\n\r\n`,
    isEvents: true,
  },
  'until close': {
    kind: 'exact',
    text: ({ id }, body) => head(id, 'Connection: close') + body,
    after: 'close',
  },
  interim: {
    kind: 'exact',
    text: (answer, body) =>
      `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${withLength(answer, body)}`,
  },
  large: {
    kind: 'exact',
    text: ({ id, bytes }) => head(id, `Content-Length: ${bytes}`),
    after: 'flood',
    bytes: 16_777_216,
  },
  'no content': {
    kind: 'exact',
    text: ({ id }) => head(id, 'X-Empty: yes', '204 No Content'),
    status: 204,
  },
  'not modified': {
    kind: 'exact',
    text: ({ id }) => head(id, 'ETag: "x"', '304 Not Modified'),
    status: 304,
  },
  // In one piece: a second answer that came later would be taken for that of the next request, by anybody.
  double: {
    kind: 'exact',
    text: (answer, body) =>
      `${withLength(answer, body)}HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<another>`,
    bytes: ONE_PIECE_BYTES,
  },
  surplus: {
    kind: 'exact',
    text: (answer, body) => withLength(answer, body) + '<surplus>'.repeat(9),
    bytes: ONE_PIECE_BYTES,
  },
  silent: { kind: 'refused' },
  closed: { kind: 'refused', after: 'close' },
  'cut head': {
    kind: 'refused',
    text: (answer, body) => withLength(answer, body).slice(0, 40),
    after: 'close',
  },
  garbage: { kind: 'refused', text: () => 'SSH-2.0-OpenSSH_9.9\r\n\0\xff\r\n\r\n' },
  'both lengths': {
    kind: 'refused',
    text: (answer, body) =>
      `${head(answer.id, `Content-Length: ${answer.bytes}\r\nTransfer-Encoding: chunked`)}${chunk(answer, body)}0\r\n\r\n`,
  },
  'huge head': {
    kind: 'refused',
    text: ({ id }) => head(id, `Content-Length: 0\r\nX-Huge: ${'x'.repeat(70_000)}`),
  },
  switching: {
    kind: 'refused',
    text: () => 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  },
  unauthorized: {
    kind: 'refused',
    text: ({ id, bytes }, body) => head(id, `Content-Length: ${bytes}`, '401 Unauthorized') + body,
  },
  'no status': { kind: 'refused', text: () => 'HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n' },
  'cut body': { kind: 'broken', text: unfinished, after: 'close' },
  'reset in the body': { kind: 'broken', text: unfinished, after: 'reset' },
  'cut chunk': {
    kind: 'broken',
    text: (answer, body) => chunked(answer, body).slice(0, -3),
    after: 'close',
  },
  'bad chunk': { kind: 'broken', text: (answer, body) => `${chunked(answer, body)}zz\r\n` },
  'reset behind': { kind: 'lost', text: withLength, after: 'reset' },
  'early reset': { kind: 'lost', text: withLength, after: 'reset', isEarly: true },
  'silent body': { kind: 'endless', text: unfinished },
  'endless events': {
    kind: 'endless',
    text: ({ id }) => head(id, 'X-Endless: yes', '200 OK', EVENTS),
    after: 'flood',
    isEvents: true,
  },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof BEHAVIOURS;

export function behave(request: UpstreamRequest, behaviour: Behaviour, answer: Planned): void {
  const { kind, after, bytes, text = () => '' } = behaviour;
  const { socket, method } = request;
  const hasBody = method !== 'HEAD' && after !== 'flood';
  const sent = text(answer, hasBody ? repeated(answer.unit, 0, answer.bytes).toString() : '');
  if (after === 'drip') return drip(request, sent);
  // Nothing more of it comes.
  if (kind === 'exact' || behaviour === BEHAVIOURS.unauthorized) request.isAnswered = true;
  socket.write(sent, 'latin1', () => after === 'reset' && resetConnection(socket));
  if (after === 'close') socket.end();
  if (after === 'flood') flood(request, answer, bytes ?? Number.POSITIVE_INFINITY);
}

function drip(request: UpstreamRequest, text: string): void {
  const step = Math.ceil(text.length / DRIP_PIECES);
  let at = 0;
  const timer = setInterval(() => {
    request.socket.write(text.slice(at, at + step));
    at += step;
    if (at < text.length && !request.socket.destroyed) return;
    clearInterval(timer);
    request.isAnswered = true;
  }, DRIP_INTERVAL_MS);
}

/** Sends a body as fast as it is taken. */
function flood({ socket }: UpstreamRequest, { unit }: Planned, end: number): void {
  let at = 0;
  const write = (): void => {
    while (!socket.destroyed && at < end) {
      const piece = repeated(unit, at, Math.min(PIECE_BYTES, end - at));
      at += piece.length;
      if (!socket.write(piece)) return void socket.once('drain', write);
    }
  };
  write();
}
