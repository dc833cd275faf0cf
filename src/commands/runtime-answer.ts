import type { RuntimeApi } from '../platform/config/environment.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { upstreamError, type FailedRequest } from '../proxy/upstream/upstream-error.ts';
import { answerFault, UnusableAnswer } from '../proxy/upstream/usable-answer.ts';
import type { Upstream } from '../proxy/upstream/upstreams.ts';
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
  upstream: Upstream;
  /** The way in which the command was addressed. */
  api: RuntimeApi;
}

/** Interprets the runtime's response to a `/send`. Throws a `GatewayError` unless the command was accepted. */
export function interpretAnswer(sent: SentCommand, answer: RuntimeAnswer): AcceptedCommand {
  const { status, headers, text } = answer;
  const fault = answerFault(sent.upstream, status, (name) => headers[name]?.toString());
  if (fault) throw unusable(sent, fault);
  if (status < 300) return accepted(sent, text);
  const otherWay = isUnknownPath(text) ? OTHER_WAY[sent.api] : undefined;
  switch (status) {
    case 404:
      throw new GatewayError(
        'entity_type_not_registered',
        otherWay ??
          'The runtime knows no such entity type, or not this command of it; register its deployment first.',
      );
    case 413:
      throw new GatewayError('body_too_large', "The body is over the runtime's own limit.", {
        reason: 'runtime',
      });
    case 429:
      throw new GatewayError('rate_limited', 'The runtime is overloaded; try again later.', {
        reason: 'runtime',
        headers: retryAfter(headers),
      });
  }
  if (status >= 400 && status < 500) {
    throw new GatewayError(
      'runtime_rejected',
      `The runtime rejected the command: ${messageOf(text)}${otherWay ? `. ${otherWay}` : ''}`,
    );
  }
  throw unusable(sent, new UnusableAnswer(`the runtime answered ${status}`));
}

function accepted(sent: SentCommand, text: string): AcceptedCommand {
  const { invocationId, status } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (typeof invocationId !== 'string' || !invocationId.startsWith('inv_')) {
    throw unusable(sent, new UnusableAnswer('the runtime accepted without an invocation id'));
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
  const { message } = (parseJson(text) ?? {}) as Record<string, unknown>;
  return typeof message === 'string' && message !== ''
    ? message.slice(0, MAX_MESSAGE_LENGTH)
    : 'it gave no reason.';
}

function retryAfter(headers: RuntimeAnswer['headers']): Record<string, string> {
  const value = headers['retry-after'];
  return { 'Retry-After': typeof value === 'string' && value !== '' ? value : '1' };
}

function unusable(sent: SentCommand, cause: Error): GatewayError {
  return upstreamError(sent, { reached: 'answered', cause });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_MESSAGE_LENGTH = 1_000;

/** What to do about a runtime without the paths of this way. `agent-gateway doctor` looks for the setting's name. */
const OTHER_WAY: Record<RuntimeApi, string> = {
  classic:
    'The runtime does not have the paths of GATEWAY_RUNTIME_API=classic; set it to restate, if GATEWAY_RUNTIME_INGRESS_URL is right.',
  restate:
    'The runtime does not have the paths of GATEWAY_RUNTIME_API=restate, which Restate has from 1.7 on; set it to classic.',
};
