import type { Random } from '../soak/random.ts';
import type { AnswerPlan, BodyKind, ClientPlan, Credential, RequestPlan, Route } from './plan.ts';
import { planAnswer } from './plan-answer.ts';
import { planManner } from './plan-manner.ts';
import { checkedId } from './request-id.ts';
import { oneIn, whole } from './seed.ts';

export const MAX_BODY_BYTES = 65_536;
const MAX_PIPELINED = 20;

/** A read that several clients send with the same target. */
export interface SharedRead {
  id: string;
  target: string;
  answer: AnswerPlan;
}

type List<T> = readonly [T, ...T[]];

const CREDENTIALS: List<Credential> = [
  'key',
  'key',
  'key',
  'key',
  'token',
  'token',
  'expired',
  'wrong',
  'none',
];
const ROUTES: List<Route> = [
  'streams',
  'streams',
  'streams',
  'streams',
  'streams',
  'shapes',
  'command',
  'command',
  'registry',
  'health',
  'malformed',
];
const BODIES: List<BodyKind> = [
  'none',
  'length',
  'length',
  'chunked',
  'chunked',
  'trailers',
  'expect',
  'over-cap',
  'over-cap-chunked',
];
/** After these no parser knows where the next request begins. */
const LAST_BODIES: List<BodyKind> = ['too-long', 'too-short', 'cut-chunk', 'bad-chunk'];
const MALFORMED: List<string> = [
  '/streams/t/../',
  '/streams/t/%2e%2e/',
  '/streams//t/',
  '/streams/t/%2fa/',
  '/shapes/%00/',
  'http://elsewhere.test/streams/t/',
  '/registry/a%5cb/',
];

export function planClient(random: Random, id: string, shared: readonly SharedRead[]): ClientPlan {
  const ttlSeconds = random.between(1, 1.9);
  if (oneIn(random, 10)) return planExpiring(random, id, ttlSeconds);
  if (oneIn(random, 5)) return planSharing(random, id, ttlSeconds, shared);
  const count = oneIn(random, 4) ? whole(random, 2, MAX_PIPELINED) : 1;
  const requests = Array.from({ length: count }, (_, index) =>
    planRequest(random, checkedId(`${id}q${index}`), index === count - 1),
  );
  const manner = planManner(random, requests);
  // What is mutated shows one credential.
  if (manner.kind === 'mutated') {
    for (const request of requests) request.credential = requests[0]?.credential ?? 'none';
  }
  return { id, manner, ttlSeconds, requests };
}

/** A live read whose token expires before the response ends. */
function planExpiring(random: Random, id: string, ttlSeconds: number): ClientPlan {
  const isEvents = oneIn(random, 2);
  const request: RequestPlan = {
    ...bare(checkedId(`${id}q0`), 'streams', 'GET'),
    target: `/streams/t/${checkedId(`${id}q0`)}?offset=1_1&live=${isEvents ? 'sse' : 'long-poll'}`,
    credential: 'expiring',
    answer: { behaviour: isEvents ? 'endless-events' : 'silent', bytes: Number.MAX_SAFE_INTEGER },
  };
  return { id, manner: { kind: 'plain' }, ttlSeconds, requests: [request] };
}

function planSharing(
  random: Random,
  id: string,
  ttlSeconds: number,
  shared: readonly SharedRead[],
): ClientPlan {
  const read = shared[whole(random, 0, shared.length)] as SharedRead;
  const request: RequestPlan = {
    ...bare(checkedId(`${id}q0`), 'streams', 'GET'),
    target: read.target,
    credential: oneIn(random, 2) ? 'key' : 'token',
    answerId: read.id,
    answer: read.answer,
  };
  return { id, manner: planManner(random, [request]), ttlSeconds, requests: [request] };
}

function planRequest(random: Random, id: string, isLast: boolean): RequestPlan {
  const route = isLast && oneIn(random, 30) ? 'connect' : random.pick(ROUTES);
  const method = methodOf(random, route);
  const mayHaveBody = !['GET', 'HEAD', 'CONNECT'].includes(method);
  let body: BodyKind = 'none';
  if (mayHaveBody && isLast && oneIn(random, 5)) body = random.pick(LAST_BODIES);
  else if (mayHaveBody) body = random.pick(BODIES);
  else if (method !== 'CONNECT' && oneIn(random, 12))
    body = oneIn(random, 2) ? 'length' : 'chunked';
  const request: RequestPlan = {
    ...bare(id, route, method),
    target: targetOf(random, route, id),
    credential: random.pick(CREDENTIALS),
    body,
    bodyBytes: body.startsWith('over-cap') ? MAX_BODY_BYTES + 1 : whole(random, 1, MAX_BODY_BYTES),
    isRepeatable: oneIn(random, 2),
    answer: planAnswer(random, route, method, isLast),
  };
  return body === 'none' ? { ...request, bodyBytes: 0 } : request;
}

function bare(id: string, route: Route, method: string): RequestPlan {
  const answer: AnswerPlan = { behaviour: 'length', bytes: 10 };
  return {
    id,
    route,
    method,
    target: '/health',
    credential: 'key',
    body: 'none',
    bodyBytes: 0,
    isRepeatable: false,
    answerId: id,
    answer,
  };
}

function methodOf(random: Random, route: Route): string {
  switch (route) {
    case 'connect':
      return 'CONNECT';
    case 'command':
      return 'POST';
    case 'registry':
      return random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
    case 'streams':
      return random.pick(['GET', 'GET', 'GET', 'HEAD', 'PUT', 'POST', 'DELETE']);
    default:
      return random.pick(['GET', 'GET', 'GET', 'HEAD']);
  }
}

function targetOf(random: Random, route: Route, id: string): string {
  switch (route) {
    case 'connect':
      return `${id}.test:80`;
    case 'command':
      return `/api/a/hostile/${id}/send`;
    case 'registry':
      return `/registry/deployments/${id}`;
    case 'shapes':
      return `/shapes/v1/shape?table=entities&offset=-1&cache-buster=${id}`;
    case 'streams':
      return `/streams/${oneIn(random, 8) ? 'other' : 't'}/${id}${random.pick(['', '?offset=-1', '?offset=1_1&live=long-poll', '?offset=now&live=sse'])}`;
    case 'health':
      return '/health';
    case 'malformed':
      return random.pick(MALFORMED) + id;
  }
}
