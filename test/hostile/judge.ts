import type { Answer } from './answers.ts';
import type { Outcome } from './hostile-client.ts';
import { isLetIn, mayNotBeParsed, refusalsOf } from './let-in.ts';
import { onlyValue } from './message-reader.ts';
import { answerHeader, patternUnit } from './pattern.ts';
import {
  BROKEN,
  ENDLESS,
  EXACT,
  REFUSED,
  type Behaviour,
  type ClientPlan,
  type RequestPlan,
} from './plan.ts';

/** One line for each thing that a client received and must not receive, or missed. */
export function judgeClient(plan: ClientPlan, { answers, end }: Outcome): string[] {
  const faults: string[] = [];
  if (answers.fault !== undefined) faults.push(`no HTTP: ${answers.fault}`);
  if (
    answers.all.length > plan.requests.length &&
    plan.manner.kind !== 'mutated' &&
    !hasExcess(plan)
  ) {
    faults.push(`${answers.all.length} answers to ${plan.requests.length} requests`);
  }
  answers.all.forEach((answer, index) => {
    const request = plan.requests[index];
    const word =
      plan.manner.kind === 'mutated'
        ? judgeOwner(plan, answer)
        : request && judgeAnswer(plan, request, answer);
    if (word !== undefined) faults.push(`${request?.id}: ${answer.status} ${word}`);
  });
  const missing = missingAnswer(plan, { answers, end });
  if (missing !== undefined) faults.push(missing);
  return faults.map((text) => `${plan.id} (${plan.manner.kind}, ${end}): ${text}`);
}

/** The meaning of a mutated request is unknown. Its response must still be its own or an error. */
function judgeOwner({ requests }: ClientPlan, answer: Answer): string | undefined {
  const owner = onlyValue(answer.head, answerHeader);
  if (answer.bodyFault !== undefined) return `has another body ${answer.bodyFault}`;
  const owners = requests.map(({ answerId }) => answerId);
  return owner === undefined || owners.includes(owner) ? undefined : `is for ${owner}`;
}

function judgeAnswer(plan: ClientPlan, request: RequestPlan, answer: Answer): string | undefined {
  const owner = onlyValue(answer.head, answerHeader);
  const requestId = onlyValue(answer.head, 'x-request-id');
  if (owner !== undefined && owner !== request.answerId) return `is for ${owner}`;
  if (requestId !== request.id && !mayNotBeParsed(request)) return `has the id ${requestId}`;
  if (answer.bodyFault !== undefined) return `has another body ${answer.bodyFault}`;
  if (answer.status >= 500 && !isKnownProblem(answer)) return `is ${answer.text.slice(0, 300)}`;
  const refusals = refusalsOf(request);
  if (owner === undefined && refusals.includes(answer.status)) return undefined;
  if (!isLetIn(request)) return `is none of ${refusals.join()}: ${answer.text.slice(0, 300)}`;
  if (request.route === 'health') return answer.status === 200 ? undefined : 'is no good health';
  // Its rest never comes, and the upstream waits for it.
  if (request.body === 'too-long') return answer.status >= 400 ? undefined : 'to half a request';
  if (request.credential === 'expiring') return judgeExpiring(request, answer);
  return request.route === 'command'
    ? judgeCommand(request, answer)
    : judgePassed(plan, request, answer, owner);
}

function judgeExpiring({ answer: { behaviour } }: RequestPlan, answer: Answer): string | undefined {
  const isExpiry = answer.status === 401 && answer.text.includes('"token_expired"');
  if (behaviour === 'silent' || isExpiry) return isExpiry ? undefined : 'is not token_expired';
  const unitBytes = patternUnit(onlyValue(answer.head, answerHeader) ?? '', 'events').length;
  if (answer.isWhole && answer.bytes % unitBytes !== 0) return 'ends inside of an event';
  return undefined;
}

function judgeCommand(
  { id, answer: { behaviour } }: RequestPlan,
  answer: Answer,
): string | undefined {
  if (!has(EXACT, behaviour)) return answer.status === 502 ? undefined : 'is not 502';
  if (answer.status === 502 && isLostWrite(answer)) return undefined;
  const isRight =
    answer.status === 202 &&
    answer.text.includes(`"invocationId":"inv_${id}"`) &&
    answer.text.includes(`hostile/${id}`);
  return isRight ? undefined : `is not that of ${id}: ${answer.text}`;
}

function judgePassed(
  plan: ClientPlan,
  request: RequestPlan,
  answer: Answer,
  owner: string | undefined,
): string | undefined {
  const { behaviour } = request.answer;
  const isOwn = owner === undefined;
  if (has(REFUSED, behaviour)) return answer.status === 502 && isOwn ? undefined : 'is not 502';
  if (isOwn) {
    const mayBeLost = !has(EXACT, behaviour) && !has(ENDLESS, behaviour);
    const isLost =
      answer.status === 502 && (mayBeLost || (isWrite(request) && isLostWrite(answer)));
    return isLost ? undefined : `is not the upstream's: ${answer.text.slice(0, 300)}`;
  }
  if (answer.status !== statusOf(behaviour)) return `is not ${statusOf(behaviour)}`;
  if (has(BROKEN, behaviour) || has(ENDLESS, behaviour)) {
    return answer.isWhole && request.method !== 'HEAD' ? 'ends as if it were whole' : undefined;
  }
  if (answer.isWhole) return wholeProblem(request, answer);
  const mayBreak =
    !has(EXACT, behaviour) || ['stopping', 'abort-answer', 'half-close'].includes(plan.manner.kind);
  return mayBreak ? undefined : `breaks off after ${answer.bytes} bytes`;
}

function wholeProblem(
  { method, answer: { behaviour, bytes }, answerId }: RequestPlan,
  answer: Answer,
): string | undefined {
  if (method === 'HEAD' || statusOf(behaviour) !== 200) return undefined;
  let expected = bytes;
  if (behaviour === 'double' || behaviour === 'surplus') expected = Math.min(bytes, 1_000);
  if (behaviour === 'events')
    expected = patternUnit(answerId, 'events').length * (1 + (bytes % 500));
  return answer.bytes === expected ? undefined : `has ${answer.bytes} bytes of ${expected}`;
}

/** The expected responses that are missing. */
function missingAnswer(plan: ClientPlan, { answers, end }: Outcome): string | undefined {
  const { all } = answers;
  const { requests, manner } = plan;
  if (end === 'stuck')
    return `nothing more came behind ${answers.wholeCount} of ${requests.length} answers, and no end`;
  // They left, or said that they would send nothing more, for which Node closes the connection.
  if (
    end === 'left' ||
    end === 'stopped' ||
    manner.kind === 'half-close' ||
    manner.kind === 'mutated'
  )
    return undefined;
  if (end === 'satisfied') return undefined;
  const last = all.at(-1);
  // The connection ends behind these.
  if (last && (!last.isWhole || onlyValue(last.head, 'connection') === 'close')) return undefined;
  const next = requests[all.length];
  if (!next) return undefined;
  if (requests.some(mayNotBeParsed)) return undefined;
  if (isLetIn(next) && mayEndUnanswered(next.answer.behaviour)) return undefined;
  if (next.body.startsWith('over-cap')) return undefined;
  return `${next.id} got no answer (${next.method} ${next.route}, ${next.answer.behaviour})`;
}

/** If a response broke before the gateway sent its head, the client may see only a closed connection. */
function mayEndUnanswered(behaviour: Behaviour): boolean {
  return !has(EXACT, behaviour) && !has(REFUSED, behaviour) && !has(ENDLESS, behaviour);
}

function hasExcess({ requests }: ClientPlan): boolean {
  return requests.at(-1)?.body === 'too-short';
}

/** A kept connection that was just being closed. A request with a body is never sent twice. */
function isLostWrite(answer: Answer): boolean {
  return answer.text.includes('"upstream_unreachable"');
}

function isWrite({ method }: RequestPlan): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function isKnownProblem({ status, text }: Answer): boolean {
  return status === 502
    ? /"upstream_(?:unreachable|timeout|invalid_response)"|^$/.test(text)
    : false;
}

function statusOf(behaviour: Behaviour): number {
  if (behaviour === 'no-content') return 204;
  return behaviour === 'not-modified' ? 304 : 200;
}

function has(list: readonly Behaviour[], behaviour: Behaviour): boolean {
  return list.includes(behaviour);
}
