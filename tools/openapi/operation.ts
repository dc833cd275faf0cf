import { takesReadTokens } from '../../src/auth/access.decorator.ts';
import type { ErrorCode } from '../../src/platform/errors/error-codes.ts';
import { isProxiedPath, isReadPath } from '../../src/contract/routes.ts';
import { ANYTHING, joinAnswers, responses, withHeaders, type Answers } from './answers.ts';
import type { DeclaredRoute } from './declared-routes.ts';
import type { HeaderName } from './headers.ts';
import type { Operation } from './openapi.ts';
import type { OperationPart } from './operation-part.ts';
import { standingParameters } from './parameters.ts';
import { problemAnswers } from './problems.ts';

/** The gateway's errors that any request may get. */
const ANYWHERE: ErrorCode[] = [
  'malformed_path',
  'head_too_large',
  'internal_error',
  'draining',
  'overloaded',
];
/** Those about a body, for a request that may have none, and for any other. */
const OF_NO_BODY: ErrorCode[] = ['unexpected_body'];
const OF_BODY: ErrorCode[] = ['invalid_body', 'body_too_large'];

const API_KEY: ErrorCode[] = [
  'missing_credentials',
  'invalid_credentials',
  'scope_not_covered',
  'rate_limited',
];

const READ_TOKEN: ErrorCode[] = ['token_expired', 'keys_unavailable'];

const OF_PROXY: ErrorCode[] = [
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_invalid_response',
];

/** Of commands, when the runtime is away. */
const OF_OUTAGE: Record<number, HeaderName[]> = { 502: ['Retry-After'] };

const CORS = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const;

/** One operation: the controller's declaration together with its description. */
export function describeOperation(
  route: DeclaredRoute,
  path: string,
  part: OperationPart,
): Operation {
  const isRead = isReadPath(path) && (route.method === 'get' || route.method === 'head');
  const ours = problemAnswers(
    problemCodes(route, path, part),
    isProxiedPath(path) ? {} : OF_OUTAGE,
  );
  const answers = joinAnswers(ours, theirAnswers(route, path, part));
  const isInTenant = path.includes('{tenant}');
  return {
    operationId: part.operationId + (isInTenant ? 'InTenant' : ''),
    summary: part.summary + (isInTenant ? ', naming the tenant' : ''),
    description: part.description,
    tags: [route.tag],
    security: credentials(route, part),
    parameters: [...standingParameters(path), ...(part.parameters ?? [])],
    ...(part.requestBody && { requestBody: part.requestBody }),
    responses: responses(
      isRead ? withHeaders(answers, { sometimes: CORS }) : answers,
      route.method !== 'head',
    ),
  };
}

function problemCodes(route: DeclaredRoute, path: string, part: OperationPart): ErrorCode[] {
  return [
    ...ANYWHERE,
    ...(route.method === 'get' || route.method === 'head' ? OF_NO_BODY : OF_BODY),
    ...(route.access === 'public' ? [] : API_KEY),
    ...(takesReadTokens(route.access) ? READ_TOKEN : []),
    ...(isProxiedPath(path) ? OF_PROXY : []),
    ...(path.includes('{tenant}') ? (['tenant_not_served'] as const) : []),
    ...part.problems,
  ];
}

function theirAnswers(
  { handler, successStatus }: DeclaredRoute,
  path: string,
  { success, upstream }: OperationPart,
): Answers {
  if (!isProxiedPath(path)) {
    if (!success) throw new Error(`${handler}: no answer is described`);
    return { [successStatus]: success };
  }
  if (!upstream) throw new Error(`${handler}: no answers of its upstream are described`);
  const anythingElse = {
    description: 'Anything else that the upstream answers, unchanged.',
    content: ANYTHING,
  };
  return withHeaders(
    { ...upstream, default: anythingElse },
    { always: ['X-Request-Id', 'Cache-Control', ...(isReadPath(path) ? ['Vary' as const] : [])] },
  );
}

function credentials(
  { access, method }: DeclaredRoute,
  { apiKeyOnly }: OperationPart,
): Operation['security'] {
  if (access === 'public') return [];
  const opensToTokens =
    takesReadTokens(access) && !apiKeyOnly && (method === 'get' || method === 'head');
  return [{ apiKey: [] }, ...(opensToTokens ? [{ readToken: [] }] : [])];
}
