import { textOf, type Part, type TimelineEvent, type Turn } from '@agent-gateway/client';

/** A message that was sent and is not on the timeline yet, as a turn. Its key is that of the turn to come. */
export function sentTurn(requestId: string, message: unknown): Turn {
  const content = contentOf(message);
  return {
    kind: 'turn',
    key: requestId,
    seq: undefined,
    message: { content, text: textOf(content), requestId },
    text: '',
    tools: [],
    reply: undefined,
    state: 'sending',
    stoppedBy: undefined,
    error: undefined,
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
  const named = new Map<unknown, TimelineEvent & { reason?: unknown; message?: unknown }>();
  for (const event of events) named.set((event as { requestId?: unknown }).requestId, event);
  return sent.flatMap((turn) => {
    const event = named.get(turn.key);
    switch (event?.kind) {
      case 'message':
        return [];
      case 'refused':
        return [{ ...turn, state: 'refused' as const, error: String(event.reason) }];
      case 'error':
        return [{ ...turn, state: 'failed' as const, error: String(event.message) }];
      default:
        return [turn];
    }
  });
}
