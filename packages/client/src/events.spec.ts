import { describe, expect, it } from '@jest/globals';
import { EVENT_KINDS, textOf, type AgentEvent, type NewAgentEvent } from './events.ts';

describe('the types of events', () => {
  it('are told apart by their kind', () => {
    const textIn = (event: AgentEvent): string => {
      switch (event.kind) {
        case 'word':
          return event.text;
        case 'reply':
          return event.stopped ? event.stopped.verb : textOf(event.content);
        case 'error':
          return event.message;
        default:
          return event.kind;
      }
    };
    const base = { seq: 3, at: '2026-11-22T15:34:23.374Z' };
    expect(textIn({ ...base, kind: 'word', replyTo: 1, index: 0, text: 'Hi' })).toBe('Hi');
    const stopped = { verb: 'interrupt' } as const;
    expect(textIn({ ...base, kind: 'reply', replyTo: 1, content: [], stopped })).toBe('interrupt');
    const refused: NewAgentEvent = { kind: 'refused', reason: 'archived' };
    expect(textIn({ ...base, ...refused })).toBe('refused');
  });

  it('are all named', () => {
    const isNamed: Record<AgentEvent['kind'], boolean> = Object.fromEntries(
      EVENT_KINDS.map((kind) => [kind, true]),
    ) as Record<(typeof EVENT_KINDS)[number], boolean>;
    expect(Object.keys(isNamed)).toHaveLength(13);
  });
});

describe('textOf', () => {
  it('has the text parts, a line each', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image', url: 'x' },
      { type: 'text', text: 'b' },
    ];
    expect(textOf(parts)).toBe('a\nb');
  });

  // Anyone with a key may append anything.
  it.each([[undefined], [null], ['text'], [[null, 1, { type: 'text' }, { text: 'x' }]]])(
    'has nothing of %j',
    (content) => {
      expect(textOf(content)).toBe('');
    },
  );
});
