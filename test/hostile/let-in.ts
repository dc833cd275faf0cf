import type { RequestPlan } from './plan.ts';
import { BASES } from './recording-upstream.ts';

/** The paths that the read tokens of this suite open. */
export const TOKEN_PREFIXES = ['/streams/t', '/shapes'];

/** The statuses of the gateway's own errors that a request may get. */
export function refusalsOf(request: RequestPlan): number[] {
  const { route, body, method } = request;
  if (route === 'connect' || route === 'malformed') return [400];
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && body !== 'none') return [400];
  const byCredential = credentialRefusal(request);
  if (mayNotBeParsed(request)) return [400, ...(byCredential ? [byCredential] : [])];
  if (byCredential) return [byCredential];
  return body.startsWith('over-cap') ? [413] : [];
}

/** Whether the request may reach an upstream, complete or in part. */
export function isLetIn(request: RequestPlan): boolean {
  const { body } = request;
  if (body === 'bad-chunk' || body === 'cut-chunk') return false;
  if (body === 'too-long') return credentialRefusal(request) === undefined;
  if (body === 'too-short') return credentialRefusal(request) === undefined;
  return refusalsOf(request).length === 0;
}

/** Whether Node's parser refuses the end of the request or the bytes after it. */
export function mayNotBeParsed({ body }: RequestPlan): boolean {
  return ['bad-chunk', 'cut-chunk', 'too-long', 'too-short'].includes(body);
}

/** The target that must reach the upstream: the exact bytes after the prefix. */
export function upstreamTargetOf({ route, target, id, credential }: RequestPlan): string {
  switch (route) {
    case 'streams':
      return BASES[0] + target.slice('/streams'.length);
    case 'shapes':
      // With the fence of a read token, whose words are other suites' matter.
      return BASES[1] + target.slice('/shapes'.length) + (credential === 'key' ? '' : '…');
    case 'registry':
      return BASES[3] + target.slice('/registry'.length);
    case 'command':
      return `${BASES[2]}/hostile/${id}/wake/send`;
    default:
      return 'nowhere';
  }
}

function credentialRefusal({ route, method, target, credential }: RequestPlan): number | undefined {
  if (route === 'health' || credential === 'key') return undefined;
  if (credential === 'none' || credential === 'wrong' || credential === 'expired') return 401;
  if (route === 'registry' || route === 'command') return 401;
  const isRead = method === 'GET' || method === 'HEAD';
  const isCovered = TOKEN_PREFIXES.some((prefix) => target.startsWith(`${prefix}/`));
  return isRead && isCovered ? undefined : 403;
}
