import { GatewayError } from '../errors/gateway-error.ts';
import { refusedCredential } from '../upstream/upstream-failure.ts';
import { NOTHING_IS_KNOWN, type RuntimeAnswer } from './runtime-attempt.ts';

/** A command that the runtime has in its journal. */
export interface AcceptedCommand {
  /** Begins with `inv_`. */
  invocationId: string;
  /** The runtime had a command with the same idempotency key already. */
  isReplay: boolean;
}

/** What the runtime's answer to a `/send` means. Throws a `GatewayError` for anything but accepted. */
export function interpretAnswer({ status, headers, text }: RuntimeAnswer): AcceptedCommand {
  if (status >= 200 && status < 300) return accepted(text);
  switch (status) {
    case 404:
      throw new GatewayError(
        'entity_type_not_registered',
        'The runtime knows no such entity type, or not this command of it; register its deployment first.',
      );
    case 413:
      throw new GatewayError('body_too_large', "The body is over the runtime's own limit.", {
        reason: 'runtime',
      });
    case 429:
      throw new GatewayError('rate_limited', 'The runtime has too much to do; try again later.', {
        reason: 'runtime',
        headers: retryAfter(headers),
      });
    case 401:
    case 403:
      throw unusable(refusedCredential(status, 'GATEWAY_RUNTIME_INGRESS_TOKEN'));
  }
  if (status >= 400 && status < 500) {
    throw new GatewayError(
      'runtime_rejected',
      `The runtime rejected the command: ${messageOf(text)}`,
    );
  }
  throw unusable(new Error(`the runtime answered ${status}`));
}

function accepted(text: string): AcceptedCommand {
  const { invocationId, status } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (typeof invocationId !== 'string' || !invocationId.startsWith('inv_')) {
    throw unusable(new Error('the runtime accepted without an invocation id'));
  }
  return { invocationId, isReplay: status === 'PreviouslyAccepted' };
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

function unusable(cause: Error): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    `The runtime gave an answer that cannot be used; ${NOTHING_IS_KNOWN}`,
    { cause },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_MESSAGE_LENGTH = 1_000;
