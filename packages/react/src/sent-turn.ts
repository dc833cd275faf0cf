import { textOf, type Part, type TimelineEvent, type Turn } from '@agent-gateway/client';

/** A message that was sent and is not on the timeline yet, as a turn. Its key is that of the turn to come. */
export function sentTurn(requestId: string, message: unknown): Turn {
  const content = contentOf(message);
  return {
    kind: 'turn',
    key: requestId,
    id: undefined,
    seq: undefined,
    message: { content, text: textOf(content), requestId },
    parts: [],
    text: '',
    tools: [],
    reply: undefined,
    state: 'sending',
    ahead: 0,
    stoppedBy: undefined,
    error: undefined,
    usage: undefined,
    beganAt: undefined,
    endedAt: undefined,
  };
}

function contentOf(message: unknown): Part[] {
  if (typeof message === 'string') return [{ type: 'text', text: message }];
  const { content } = (message ?? {}) as { content?: unknown };
  return Array.isArray(content) ? (content as Part[]) : [];
}

/** The sent turns after these events: without those that are on the timeline, and with what became of the others. */
export function sentAfter(sent: readonly Turn[], events: readonly TimelineEvent[]): Turn[] {
  const named = new Map<unknown, Named>();
  for (const event of events) {
    const { invocationId, requestId } = (event ?? {}) as Named;
    if (typeof requestId === 'string') named.set(requestId, event);
    if (typeof invocationId === 'string') named.set(invocationId, event);
  }
  return sent.flatMap((turn) => {
    const event = named.get(turn.id) ?? named.get(turn.key);
    switch (event?.kind) {
      case 'message':
        return [];
      case 'refused':
        return [{ ...turn, state: 'refused' as const, error: inWords(event.reason) }];
      case 'error':
        return [{ ...turn, state: 'failed' as const, error: inWords(event.message) }];
      default:
        return [turn];
    }
  });
}

type Named = TimelineEvent & {
  invocationId?: unknown;
  requestId?: unknown;
  reason?: unknown;
  message?: unknown;
};

/** Anyone with a key may append anything, and `String` throws for some objects. */
function inWords(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
