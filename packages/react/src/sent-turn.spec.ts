import { describe, expect, it } from '@jest/globals';
import { sentAfter, sentTurn } from './sent-turn.ts';

const event = (kind: string, more: object) => ({ seq: 0, at: '', kind, ...more });

describe('a sent message', () => {
  it.each([
    ['hello', [{ type: 'text', text: 'hello' }], 'hello'],
    [
      { content: [{ type: 'text', text: 'a' }, { type: 'image' }] },
      [{ type: 'text', text: 'a' }, { type: 'image' }],
      'a',
    ],
    [{ other: 1 }, [], ''],
  ])('has the content that its turn will have: %j', (message, content, text) => {
    expect(sentTurn('r1', message)).toMatchObject({
      key: 'r1',
      state: 'sending',
      message: { content, text, requestId: 'r1' },
    });
  });

  it('goes when its message is there, and stays with the reason when there is none', () => {
    const sent = [
      sentTurn('r1', 'a'),
      sentTurn('r2', 'b'),
      sentTurn('r3', 'c'),
      sentTurn('r4', 'd'),
    ];
    const after = sentAfter(sent, [
      event('message', { requestId: 'r1', content: [] }),
      event('refused', { requestId: 'r2', reason: 'archived' }),
      event('error', { requestId: 'r3', message: 'no JSON' }),
      event('status', { requestId: 'r4', status: 'paused' }),
      event('message', { content: [] }),
    ]);
    expect(after.map(({ key, state, error }) => [key, state, error])).toEqual([
      ['r2', 'refused', 'archived'],
      ['r3', 'failed', 'no JSON'],
      ['r4', 'sending', undefined],
    ]);
  });
});
