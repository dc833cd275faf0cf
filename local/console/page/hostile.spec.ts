import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversation, runsOf } from '../../../packages/client/src/index.ts';
import type { TimelineEvent } from '../../../packages/client/src/index.ts';
import { eventText, json, noteText, plain, traceOf, type Event } from './event-text.ts';
import { msOf } from './times.ts';

const KINDS = ['message', 'word', 'tool', 'decision', 'reply', 'error', 'status', 'refused'];
const FIELDS = ['at', 'replyTo', 'id', 'name', 'state', 'text', 'content', 'message', 'reason'];

/** An event of a known kind, with any JSON in its fields. */
const events = fc.record(
  {
    kind: fc.oneof(fc.constantFrom(...KINDS), fc.jsonValue()),
    seq: fc.oneof(fc.nat(20), fc.jsonValue()),
    ...Object.fromEntries(FIELDS.map((field) => [field, fc.oneof(fc.nat(20), fc.jsonValue())])),
    stopped: fc.jsonValue(),
    call: fc.jsonValue(),
    approved: fc.oneof(fc.boolean(), fc.jsonValue()),
    invocationId: fc.oneof(fc.constant('inv_1'), fc.jsonValue()),
    parent: fc.jsonValue(),
    url: fc.jsonValue(),
    traceparent: fc.jsonValue(),
    expected: fc.jsonValue(),
  },
  { requiredKeys: ['kind'] },
);

describe('any JSON on a timeline', () => {
  it('is shown in words, and never keeps the others from being shown', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 30 }), (given) => {
        const all = given as unknown as Event[];
        for (const item of conversation(all as TimelineEvent[]).items) {
          if (item.kind === 'note') expect(typeof noteText(item).text).toBe('string');
        }
        runsOf('shop/a', all);
        for (const event of all) {
          expect(typeof eventText(event)).toBe('string');
          traceOf(event);
          expect(typeof msOf(event.at)).toBe('number');
        }
      }),
    );
  });

  // JSON of this depth can be read, but not written. Its item hid the whole conversation.
  it('may be nested so deeply that it cannot be written', () => {
    const depth = 50_000;
    const deep: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect([plain(deep), json({ deep }, 2)]).toEqual([
      '(nested too deeply to be shown)',
      '(nested too deeply to be shown)',
    ]);
    const kinds = [...KINDS, 'restored', 'spawned', 'data', 'unknown'];
    const fields = ['content', 'text', 'reason', 'message', 'status', 'input', 'error', 'stopped'];
    const more = Object.fromEntries(
      [...fields, 'at', 'id', 'name', 'usage'].map((one) => [one, deep]),
    );
    const given = kinds.map((kind, seq) => ({
      replyTo: 0,
      invocationId: 'inv_1',
      ...more,
      kind,
      seq,
    })) as never as Event[];
    expect(conversation(given).nextSeq).toBe(kinds.length);
    expect(runsOf('shop/a', given)).toHaveLength(1);
    const [first, refused] = given.filter(({ kind }) => kind === 'message' || kind === 'refused');
    const { turns } = conversation([first, refused] as Event[]);
    expect(turns.map(({ error }) => error)).toEqual(['no reason given']);
    expect(given.map(eventText).every((text) => typeof text === 'string')).toBe(true);
  });
});
