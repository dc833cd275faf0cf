/** What an upstream does with a request; `behaviours.ts` says how. */
export interface AnswerPlan {
  behaviour: Behaviour;
  /** Of the body, or of it until something goes wrong. */
  bytes: number;
}

/** Responses that must reach the client unchanged. */
export const EXACT = [
  'length',
  'chunked',
  'until-close',
  'drip',
  'interim',
  'events',
  'early',
  'large',
  'no-content',
  'not-modified',
  'double',
  'surplus',
] as const;
/** Responses that the gateway replaces with an error of its own. */
export const REFUSED = [
  'silent',
  'cut-head',
  'closed',
  'garbage',
  'both-lengths',
  'huge-head',
  'switching',
  'unauthorized',
  'no-status',
] as const;
/** Responses that begin and break. The client must notice. */
export const BROKEN = ['cut-body', 'cut-chunk', 'reset-in-body', 'bad-chunk'] as const;
/** Correct responses that may get lost, because the upstream resets the connection after them. */
export const RESET_BEHIND = ['reset-after', 'early-reset'] as const;
/** Responses that begin and never end. */
export const ENDLESS = ['silent-body', 'endless-events'] as const;

export type Behaviour =
  | (typeof EXACT)[number]
  | (typeof REFUSED)[number]
  | (typeof BROKEN)[number]
  | (typeof RESET_BEHIND)[number]
  | (typeof ENDLESS)[number];

/** The credential that a client sends. */
export type Credential = 'key' | 'token' | 'expiring' | 'expired' | 'wrong' | 'none';

/** The forms of a request body. Those from `too-long` on are the last request of their connection. */
export type BodyKind =
  | 'none'
  | 'length'
  | 'chunked'
  | 'trailers'
  | 'expect'
  | 'over-cap'
  | 'over-cap-chunked'
  | 'too-long'
  | 'too-short'
  | 'cut-chunk'
  | 'bad-chunk';

export type Route =
  'streams' | 'shapes' | 'registry' | 'command' | 'health' | 'connect' | 'malformed';

export interface RequestPlan {
  /** In its target, its `X-Request-Id` and its body. */
  id: string;
  route: Route;
  method: string;
  target: string;
  credential: Credential;
  body: BodyKind;
  /** Of the body that is sent. */
  bodyBytes: number;
  isRepeatable: boolean;
  /** For whom the answer is: itself, or all who read the same at once. */
  answerId: string;
  answer: AnswerPlan;
}

/** What a client does besides sending requests. */
export type Manner =
  | { kind: 'plain' }
  | { kind: 'slow'; readsBytes: number; writesBytes: number; pauseMs: number; pauses: number }
  | { kind: 'stopping'; afterBytes: number }
  | { kind: 'abort-request'; share: number; byReset: boolean }
  | { kind: 'abort-answer'; afterBytes: number; byReset: boolean }
  | { kind: 'half-close' }
  | { kind: 'mutated'; mutations: number };

export interface ClientPlan {
  id: string;
  manner: Manner;
  /** Of its read token, where that is to end under way. */
  ttlSeconds: number;
  requests: RequestPlan[];
}

export interface RoundPlan {
  round: number;
  clients: ClientPlan[];
  /** Of all that is asked, by the id that stands in the target. */
  answers: Record<string, AnswerPlan>;
}

export function isEndless(behaviour: Behaviour): boolean {
  return (ENDLESS as readonly Behaviour[]).includes(behaviour);
}
