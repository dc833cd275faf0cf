import { describe, expect, it } from '@jest/globals';
import type { AgentEvent } from './events.ts';
import { ownTurnAfter } from './own-turn.ts';
import type { Turn } from './turn.ts';

const COMMAND = { requestId: 'mine', invocationId: 'inv_mine' };
const AT = '2026-11-21T16:02:11.123Z';

function after(...events: unknown[]): Turn | undefined {
  return events.reduce<Turn | undefined>(
    (turn, event) => ownTurnAfter(turn, event as AgentEvent, COMMAND) ?? turn,
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
    expect(after('text', 7, null, [1], message, 'text', null)).toMatchObject({ state: 'waiting' });
  });

  // A repeated command has another request id, and an old message of somebody may have this one.
  it('is found by its name, and by the request only where the event has no name', () => {
    const named = { ...message, invocationId: 'inv_mine', requestId: 'of the first time' };
    expect(after(named)).toMatchObject({ id: 'inv_mine', seq: 3 });
    expect(after({ ...message, invocationId: 'inv_theirs' })).toBeUndefined();
    const refused = { seq: 4, at: AT, kind: 'refused', reason: 'archived', requestId: 'x' };
    expect(after(named, refused)).toMatchObject({ state: 'waiting' });
    expect(after(named, { ...refused, invocationId: 'inv_mine' })).toMatchObject({
      state: 'refused',
    });
  });

  it('fails by its name, also where the failure names another number of the message', () => {
    const named = { ...message, invocationId: 'inv_mine' };
    const error = { seq: 5, at: AT, kind: 'error', message: 'no', invocationId: 'inv_mine' };
    expect(after(named, { ...error, replyTo: 1 })).toMatchObject({ state: 'failed', error: 'no' });
    expect(after(named, error)).toMatchObject({ state: 'waiting' });
    const theirs = { ...error, replyTo: 1, invocationId: 'inv_theirs' };
    expect(after(named, theirs)).toMatchObject({ state: 'waiting' });
  });

  it('begins anew when its message comes again, unless it has ended', () => {
    const named = { ...message, invocationId: 'inv_mine' };
    const half = { seq: 4, at: AT, kind: 'word', replyTo: 3, text: 'half' };
    const again = { ...named, seq: 6 };
    expect(after(named, half, again)).toMatchObject({ seq: 6, text: '', state: 'waiting' });
    const reply = { seq: 5, at: AT, kind: 'reply', replyTo: 3, content: [] };
    expect(after(named, reply, again)).toMatchObject({ seq: 3, state: 'done' });
  });
});
