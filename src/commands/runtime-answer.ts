import type { RuntimeApi } from '../contract/environment.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { parsedJson } from '../platform/http/parsed-json.ts';
import { upstreamError, type FailedRequest } from '../proxy/upstream/upstream-error.ts';
import {
  answerFault,
  UnusableAnswer,
  type JudgingUpstream,
} from '../proxy/upstream/usable-answer.ts';
import type { RuntimeAnswer } from './runtime-attempt.ts';

/** A command that is in the runtime's journal. */
export interface AcceptedCommand {
  /** Begins with `inv_`. */
  invocationId: string;
  /** Whether the runtime already had a command with the same idempotency key. */
  isReplay: boolean;
}

/** A command that was sent to the runtime. */
export interface SentCommand extends FailedRequest {
  upstream: FailedRequest['upstream'] & JudgingUpstream;
  /** The way in which the command was addressed. */
  api: RuntimeApi;
  /** Whether it has a key, so that a client may repeat it. */
  isRepeatable: boolean;
}

/** The statuses of a proxy before the runtime, while the runtime itself does not answer. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** The statuses that concern the very request, whoever gives them. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([413, 429]);

/**
 * Whether an answer is of what stands before the runtime: a proxy that does not reach it, or a page of a proxy. Restate marks
 * its own errors from 1.7.4 on. Older ones, which only have the classic paths, are known by the form of their errors.
 */
export function isRefusal(api: RuntimeApi, { status, header, text }: RuntimeAnswer): boolean {
  if (status < 300 || OF_THE_REQUEST.has(status)) return false;
  if (PROXY_STATUSES.has(status)) return true;
  if (header('x-restate-error-source') !== undefined) return false;
  return api === 'restate' ? !isUnknownPath(text) : messageIn(text) === undefined;
}

/** What the runtime's response to a `/send` means: the command was accepted, or the error for the client. */
export function interpretAnswer(
  sent: SentCommand,
  answer: RuntimeAnswer,
): AcceptedCommand | GatewayError {
  const { status, header, text } = answer;
  const fault = answerFault(sent.upstream, status, header);
  if (!fault && status < 300) return accepted(sent, text);
  if (fault || isRefusal(sent.api, answer)) {
    const reason = fault ?? new UnusableAnswer(`what stands before the runtime answered ${status}`);
    return unusable(sent, reason, retryAfterMs(answer));
  }
  const otherWay = isUnknownPath(text) ? OTHER_WAY[sent.api] : undefined;
  switch (status) {
    case 404:
      return new GatewayError(
        'entity_type_not_registered',
        otherWay ??
          'The runtime knows no such entity type, or not this command of it; register its deployment first.',
      );
    case 413:
      return new GatewayError('body_too_large', "The body is over the runtime's own limit.", {
        reason: 'runtime',
      });
    case 429:
      return new GatewayError('rate_limited', 'The runtime is overloaded; try again later.', {
        reason: 'runtime',
        headers: { 'Retry-After': header('retry-after') || '1' },
      });
  }
  if (status >= 400 && status < 500) {
    return new GatewayError(
      'runtime_rejected',
      `The runtime rejected the command: ${messageOf(text)}${otherWay ? `. ${otherWay}` : ''}`,
    );
  }
  return unusable(sent, new UnusableAnswer(`the runtime answered ${status}`));
}

function accepted(sent: SentCommand, text: string): AcceptedCommand | GatewayError {
  const { invocationId, status } = (parsedJson(text) ?? {}) as Record<string, unknown>;
  if (typeof invocationId !== 'string' || !invocationId.startsWith('inv_')) {
    return unusable(sent, new UnusableAnswer('the runtime accepted without an invocation id'));
  }
  return { invocationId, isReplay: status === 'PreviouslyAccepted' };
}

/**
 * Whether Restate says that it has no such path. Of a service or a handler that it does not have, it gives the name (seen
 * with 1.6.2, which has no `/restate/send`, and with 1.7.12).
 */
function isUnknownPath(text: string): boolean {
  const message = messageOf(text);
  return message === 'not found' || message.startsWith('bad path');
}

function messageOf(text: string): string {
  return messageIn(text)?.slice(0, MAX_MESSAGE_LENGTH) ?? 'it gave no reason.';
}

/** The message of an error in the runtime's form, or undefined. */
function messageIn(text: string): string | undefined {
  const { message } = (parsedJson(text) ?? {}) as Record<string, unknown>;
  return typeof message === 'string' && message !== '' ? message : undefined;
}

/** The time that a response asks for with `Retry-After`, in milliseconds. A date counts as none. */
export function retryAfterMs({ header }: RuntimeAnswer): number | undefined {
  const seconds = header('retry-after');
  return seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

/** `retryMs` is for a client that may repeat the command. */
function unusable(sent: SentCommand, cause: Error, retryMs?: number): GatewayError {
  return upstreamError(sent, {
    reached: 'answered',
    cause,
    ...(sent.isRepeatable && retryMs && { retryAfterSeconds: Math.ceil(retryMs / 1_000) }),
  });
}

const MAX_MESSAGE_LENGTH = 1_000;

/** What to do about a runtime without the paths of this way. `agent-gateway doctor` looks for the setting's name. */
const OTHER_WAY: Record<RuntimeApi, string> = {
  classic:
    'The runtime does not have the paths of GATEWAY_RUNTIME_API=classic; set it to restate, if GATEWAY_RUNTIME_INGRESS_URL is right.',
  restate:
    'The runtime does not have the paths of GATEWAY_RUNTIME_API=restate, which Restate has from 1.7 on; with an older one, set it to classic.',
};
