import { isLetIn, upstreamTargetOf } from './let-in.ts';
import type { RequestPlan, RoundPlan } from './plan.ts';
import type { UpstreamRequest } from './recording-upstream.ts';
import { idIn } from './request-id.ts';
import { bodyText } from './requests.ts';

/** One line for each upstream request that should have been refused or that differs from the client's request. */
export function judgeUpstream(
  plans: readonly RoundPlan[],
  seen: readonly UpstreamRequest[],
): string[] {
  const requests = new Map<string, RequestPlan[]>();
  const mutated = new Set<string>();
  for (const { manner, requests: planned } of plans.flatMap(({ clients }) => clients)) {
    for (const request of planned) {
      requests.set(request.answerId, [...(requests.get(request.answerId) ?? []), request]);
      if (manner.kind === 'mutated') mutated.add(request.answerId);
    }
  }
  return seen.flatMap((request) => {
    const id = idIn(request.target);
    if (id === undefined) return [];
    const askers = requests.get(id) ?? [];
    const problem = mutated.has(id) ? judgeMutated(askers) : judge(request, askers);
    return problem === undefined ? [] : [`${request.method} ${request.target} ${problem}`];
  });
}

/** No mutation creates a valid credential. */
function judgeMutated(askers: readonly RequestPlan[]): string | undefined {
  const holds = askers.some(
    ({ credential }) => credential === 'key' || credential === 'token' || credential === 'expiring',
  );
  return holds ? undefined : 'got there without a credential';
}

function judge(seen: UpstreamRequest, askers: readonly RequestPlan[]): string | undefined {
  const letIn = askers.filter(isLetIn);
  if (letIn.length === 0) return `was not let in (${askers[0]?.credential}, ${askers[0]?.body})`;
  if (!letIn.some((asker) => isAsAsked(seen, asker)))
    return `is not what was asked: ${letIn[0]?.method} ${letIn[0]?.target}`;
  const [asker] = letIn;
  return asker && bodyProblem(seen, asker);
}

function isAsAsked({ method, target }: UpstreamRequest, asker: RequestPlan): boolean {
  const expected = upstreamTargetOf(asker);
  const isFenced =
    expected.endsWith('…') && target.startsWith('/sync/v1/shape?') && target.includes(asker.id);
  return method === asker.method && (target === expected || isFenced);
}

function bodyProblem(
  { body, isWhole, method }: UpstreamRequest,
  asker: RequestPlan,
): string | undefined {
  const expected = method === 'GET' || method === 'HEAD' ? '' : bodyText(asker);
  const text = body.toString('latin1');
  if (!expected.startsWith(text)) return `has a body of another: ${text.slice(0, 200)}`;
  if (!isWhole) return undefined;
  if (asker.body === 'too-long') return 'is whole, although its client never sent the rest';
  return text.length === expected.length
    ? undefined
    : `has ${text.length} bytes of ${expected.length}`;
}
