import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { conversation } from '../../../packages/client/src/index.ts';
import type { Event } from './event-text.ts';
import { Outcomes } from './outcomes.ts';
import type { Outbox, Sent } from './outbox.ts';

const AGENT = { type: 'assistant', id: 'ada' };
const EVENTS = [
  { seq: 0, kind: 'message', content: [{ type: 'text', text: 'count to 100' }] },
  { seq: 1, kind: 'status', status: 'idle', requestId: 'stop' },
  {
    seq: 2,
    kind: 'reply',
    replyTo: 0,
    content: [{ type: 'text', text: '1 2' }],
    stopped: { verb: 'interrupt', requestId: 'stop' },
  },
] as unknown as Event[];

describe('the outcome of an interrupt', () => {
  const line = { textContent: '', dataset: {} };
  let outcomes: Outcomes;
  beforeEach(() => {
    jest.useFakeTimers();
    Object.assign(globalThis, { document: { getElementById: () => line } });
    line.textContent = '';
    const sent = [{ key: 'stop', what: 'interrupt' }] as Sent[];
    outcomes = new Outcomes({ of: () => sent, forget: () => sent.pop() } as unknown as Outbox);
  });
  afterEach(() => {
    jest.useRealTimers();
    Reflect.deleteProperty(globalThis, 'document');
  });
  const take = (from: number, to: number): void =>
    outcomes.take(AGENT, EVENTS.slice(from, to), conversation(EVENTS.slice(0, to)));

  it('names the answer that it has stopped', () => {
    take(0, 2);
    expect(line.textContent).toBe('');
    take(2, 3);
    expect(line.textContent).toBe('Interrupted the answer to “count to 100”.');
  });

  it('is nothing where no stopped answer comes', () => {
    take(0, 2);
    jest.advanceTimersByTime(1_500);
    expect(line.textContent).toBe('Interrupt: there was no answer under way.');
  });

  // On a busy machine the reply came two seconds after the verb, and the page went on saying that there was no answer.
  it('is corrected by a stopped answer that comes late', () => {
    take(0, 2);
    jest.advanceTimersByTime(2_000);
    take(2, 3);
    expect(line.textContent).toBe('Interrupted the answer to “count to 100”.');
  });
});
