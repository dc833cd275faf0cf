import { describe, expect, it } from '@jest/globals';
import { newTimeline } from '../../packages/client/src/agent/index.ts';
import { begin, control, receive, sayWord } from './conversation.ts';
import type { Assistant } from './conversation.ts';

function newAssistant(): Assistant {
  return {
    url: '/t/default/a/assistant/a1',
    status: 'idle',
    parent: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    timeline: { ...newTimeline('/t/default/agents/assistant/a1/timeline'), nextSeq: 7 },
  };
}

const request = { requestId: 'r1' };

function hear(self: Assistant, text: string) {
  return receive(self, { message: { content: [{ type: 'text', text }], text } }, request);
}

function speaking(words: string[]): Assistant {
  const self = newAssistant();
  hear(self, 'x');
  begin(self, words);
  return self;
}

describe('receive', () => {
  it('records a message and begins to run', () => {
    const self = newAssistant();
    expect(hear(self, 'hi')).toEqual([
      { kind: 'message', content: [{ type: 'text', text: 'hi' }], requestId: 'r1' },
    ]);
    expect(self).toMatchObject({ status: 'running', inbox: [{ seq: 7, text: 'hi' }] });
  });

  it('records an error for what is no message, and stays idle', () => {
    const self = newAssistant();
    expect(receive(self, { problem: 'it is empty' }, request)).toEqual([
      { kind: 'error', message: 'it is empty', requestId: 'r1' },
    ]);
    expect(self.status).toBe('idle');
  });

  it('keeps a message for later while paused', () => {
    const self = newAssistant();
    control(self, { verb: 'pause' }, request);
    hear(self, 'hi');
    expect(self).toMatchObject({ status: 'paused', inbox: [{ seq: 7, text: 'hi' }] });
  });

  it('rejects the twenty-first message that waits', () => {
    const self = newAssistant();
    for (let count = 0; count < 20; count += 1) hear(self, 'hi');
    expect(hear(self, 'hi')).toEqual([{ kind: 'rejected', reason: 'inbox full', requestId: 'r1' }]);
    expect(self.inbox).toHaveLength(20);
  });

  it('reads no more than the first 2,000 characters', () => {
    const self = newAssistant();
    hear(self, 'x'.repeat(3_000));
    expect(self.inbox?.[0]?.text).toHaveLength(2_000);
  });

  it('rejects every message once archived, also one that it could not read', () => {
    const self = newAssistant();
    control(self, { verb: 'archive' }, request);
    const rejected = [{ kind: 'rejected', reason: 'archived', requestId: 'r1' }];
    expect(hear(self, 'hi')).toEqual(rejected);
    expect(receive(self, { problem: 'it is empty' }, request)).toEqual(rejected);
    expect(self).toMatchObject({ status: 'archived', inbox: [] });
  });
});

describe('sayWord', () => {
  it('says one word at a time, then the whole reply, and is idle', () => {
    const self = speaking(['a', 'b']);
    expect(sayWord(self)).toEqual([{ kind: 'word', replyTo: 7, index: 0, text: 'a' }]);
    expect(self.status).toBe('running');
    expect(sayWord(self)).toEqual([
      { kind: 'word', replyTo: 7, index: 1, text: 'b' },
      { kind: 'reply', replyTo: 7, content: [{ type: 'text', text: 'a b' }] },
    ]);
    expect(self).toMatchObject({ status: 'idle', inbox: [] });
    expect(self.reply).toBeUndefined();
  });

  it('continues running when another message waits', () => {
    const self = speaking(['a']);
    hear(self, 'y');
    sayWord(self);
    expect(self.status).toBe('running');
  });
});

describe('control', () => {
  it('interrupts the reply under way, and leaves the messages that wait', () => {
    const self = speaking(['a', 'b']);
    hear(self, 'y');
    sayWord(self);
    expect(control(self, { verb: 'interrupt', reason: 'enough' }, request)).toEqual([
      { kind: 'control', verb: 'interrupt', reason: 'enough', status: 'running', requestId: 'r1' },
      { kind: 'interrupted', replyTo: 7, wordsSaid: 1 },
    ]);
    expect(self.inbox).toHaveLength(1);
    expect(self.reply).toBeUndefined();
  });

  it('interrupts a reply that has not begun', () => {
    const self = newAssistant();
    hear(self, 'x');
    expect(control(self, { verb: 'interrupt' }, {})).toEqual([
      { kind: 'control', verb: 'interrupt', status: 'idle' },
      { kind: 'interrupted', replyTo: 7, wordsSaid: 0 },
    ]);
  });

  it('only notes an interrupt when there is nothing to interrupt', () => {
    const self = newAssistant();
    expect(control(self, { verb: 'interrupt' }, {})).toEqual([
      { kind: 'control', verb: 'interrupt', status: 'idle' },
    ]);
  });

  it('stays paused when interrupted', () => {
    const self = speaking(['a']);
    control(self, { verb: 'pause' }, {});
    expect(control(self, { verb: 'interrupt' }, {})[0]).toEqual({
      kind: 'control',
      verb: 'interrupt',
      status: 'paused',
    });
  });

  it('pauses and resumes in the middle of a reply', () => {
    const self = speaking(['a', 'b']);
    sayWord(self);
    control(self, { verb: 'pause' }, {});
    expect(self.status).toBe('paused');
    control(self, { verb: 'resume' }, {});
    expect(self.status).toBe('running');
    expect(sayWord(self)[0]).toEqual({ kind: 'word', replyTo: 7, index: 1, text: 'b' });
  });

  it('resumes to idle when there is nothing to say', () => {
    const self = newAssistant();
    control(self, { verb: 'pause' }, {});
    control(self, { verb: 'resume' }, {});
    expect(self.status).toBe('idle');
  });

  it('breaks off all that waits when archived', () => {
    const self = speaking(['a', 'b']);
    self.timeline.nextSeq = 9;
    hear(self, 'y');
    expect(control(self, { verb: 'archive' }, {})).toEqual([
      { kind: 'control', verb: 'archive', status: 'archived' },
      { kind: 'interrupted', replyTo: 7, wordsSaid: 0 },
      { kind: 'interrupted', replyTo: 9, wordsSaid: 0 },
    ]);
  });

  it.each(['interrupt', 'pause', 'resume', 'archive'] as const)(
    'rejects %s once archived',
    (verb) => {
      const self = newAssistant();
      control(self, { verb: 'archive' }, {});
      expect(control(self, { verb }, request)).toEqual([
        { kind: 'rejected', reason: 'archived', requestId: 'r1' },
      ]);
      expect(self.status).toBe('archived');
    },
  );
});
