import { describe, expect, it } from '@jest/globals';
import type { AgentEvent } from './events.ts';
import { ownTurnAfter } from './own-turn.ts';
import type { Turn } from './turn.ts';

const AT = '2026-11-21T16:02:11.123Z';

function after(...events: unknown[]): Turn | undefined {
  return events.reduce<Turn | undefined>(
    (turn, event) => ownTurnAfter(turn, event as AgentEvent, 'mine') ?? turn,
    undefined,
  );
}

describe('the turn of one command', () => {
  const message = { seq: 3, at: AT, kind: 'message', content: [], requestId: 'mine' };

  it('has the events that answer its message, and no others', () => {
    const others = [
      { seq: 1, at: AT, kind: 'message', content: [], requestId: 'theirs' },
      { seq: 2, at: AT, kind: 'word', replyTo: 1, text: 'theirs' },
    ];
    expect(after(...others)).toBeUndefined();
    expect(
      after(
        ...others,
        message,
        { seq: 4, at: AT, kind: 'word', replyTo: 3, text: 'ours' },
        { seq: 5, at: AT, kind: 'reply', replyTo: 1, content: [] },
        { seq: 6, at: AT, kind: 'status', status: 'running' },
      ),
    ).toMatchObject({ key: 'mine', seq: 3, text: 'ours', state: 'writing' });
  });

  it('is refused without a message, and after one', () => {
    const refused = { seq: 4, at: AT, kind: 'refused', reason: 'archived', requestId: 'mine' };
    expect(after(refused)).toMatchObject({ state: 'refused', error: 'archived' });
    expect(after(message, refused)).toMatchObject({ state: 'refused', error: 'archived' });
  });

  // Anybody may append a text or a number, which ended `ask` with a TypeError.
  it('has nothing of what is no object', () => {
    expect(after('text', 7, [1], message, 'text')).toMatchObject({ state: 'waiting' });
  });
});
