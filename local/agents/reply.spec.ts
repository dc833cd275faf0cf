import { describe, expect, it } from '@jest/globals';
import { planReply } from './reply.ts';

const NOON = new Date('2026-01-02T12:34:56.789Z');

function say(message: string): string {
  return planReply(message, NOON).words.join(' ');
}

describe('planReply', () => {
  it.each([
    ['count to 5', '1 2 3 4 5'],
    ['Please count to 3, then stop', '1 2 3'],
    ['count to 0', 'That was quick.'],
    ['count to 1001', 'I only count to 1000.'],
    ['what time is it?', 'It is 12:34:56 UTC.'],
    ['the moon is  round', 'You said: the moon is round'],
    ['', 'You sent nothing that I can read.'],
    ['   ', 'You sent nothing that I can read.'],
  ])('answers %j with %j', (message, reply) => {
    expect(say(message)).toBe(reply);
  });

  it.each(['help', 'HELP', '?', 'can you help me'])(
    'tells what it can do when asked %j',
    (message) => {
      expect(say(message)).toMatch(/^I answer without a model\. Ask me to "count to 10"/);
    },
  );

  it.each([
    ['spawn child', { type: 'assistant' }],
    ['Spawn child echo', { type: 'echo' }],
    ['spawn child echo e-1', { type: 'echo', id: 'e-1' }],
    ['  spawn child echo e:1~x@y.z please', { type: 'echo', id: 'e:1~x@y.z' }],
  ])('wants a child for %j', (message, child) => {
    expect(planReply(message, NOON)).toEqual({
      words: `I have a child of type ${child.type} now:`.split(' '),
      child,
    });
  });

  it.each(['spawn children', 'do not spawn child'])('wants no child for %j', (message) => {
    expect(planReply(message, NOON)).toEqual({ words: ['You', 'said:', ...message.split(' ')] });
  });

  it('counts to a thousand in a thousand words', () => {
    expect(planReply('count to 1000', NOON).words).toHaveLength(1_000);
  });
});
