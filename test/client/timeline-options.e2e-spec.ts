import { describe, expect, it } from '@jest/globals';
import {
  AgentGateway,
  type AgentEvent,
  type StandardSchema,
  type TimelineEvent,
} from '../../packages/client/src/index.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline } from '../support/numbered-events.ts';
import { forAllTests } from '../support/for-this-test.ts';

const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_HISTORY_URL: history.url }));

const client = (): AgentGateway => new AgentGateway({ url: gateway.url, apiKey: API_KEY });
const written = (id: string, count: number) => newTimeline(history.url, id, count, 200);

describe('the last events of a timeline', () => {
  it.each(['sse', 'long-poll'] as const)(
    'come first, and then the new ones, by %s',
    async (live) => {
      const writer = await written(`last-${live}`, 500);
      const gaps: unknown[] = [];
      const options = { last: 3, live, onGap: (gap: unknown) => gaps.push(gap) };
      const timeline = client().timeline(`chat/last-${live}`, options);
      const seqs: number[] = [];
      for await (const { seq } of timeline) {
        seqs.push(seq);
        if (seq === 499) await writer.append(2);
        // A new iteration continues, in the middle of the last ones as well.
        if (seq === 498 || seq === 501) break;
      }
      expect(seqs).toEqual([497, 498]);
      for await (const { seq } of timeline) {
        seqs.push(seq);
        if (seq === 499) await writer.append(2);
        if (seq === 501) break;
      }
      expect([seqs, gaps]).toEqual([[497, 498, 499, 500, 501], []]);
    },
  );

  it('are all of them where there are fewer, and none where there is none', async () => {
    await written('few', 2);
    await written('none', 0);
    const seqsOf = async (id: string): Promise<number[]> => {
      const seqs: number[] = [];
      const timeline = client().timeline(`chat/${id}`, { last: 3, live: false });
      for await (const { seq } of timeline) seqs.push(seq);
      return seqs;
    };
    expect([await seqsOf('few'), await seqsOf('none')]).toEqual([[0, 1], []]);
    expect(() => client().timeline('chat/few', { last: 0 })).toThrow(TypeError);
  });
});

interface Numbered extends TimelineEvent {
  text: string;
}
/** As a library of schemas would give it. */
const schema: StandardSchema<Numbered & { length: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => {
      const { text, ...event } = value as Numbered;
      await Promise.resolve();
      if (event.seq === 2)
        return { issues: [{ message: 'Expected a word', path: ['text', { key: 0 }] }] };
      return { value: { ...event, text, length: text.length } };
    },
  },
};

describe('a schema', () => {
  it('gives events their type, and throws for one that does not match', async () => {
    await written('schema', 4);
    const timeline = client().timeline('chat/schema', { schema, live: false });
    const lengths: number[] = [];
    const read = async (): Promise<void> => {
      for await (const { length } of timeline) lengths.push(length);
    };
    await expect(read()).rejects.toMatchObject({
      name: 'APIError',
      code: 'invalid_event',
      message: 'Event 2 (undefined) does not match the schema: text.0: Expected a word.',
    });
    // The next iteration continues after it.
    await read();
    expect(lengths).toEqual([268, 268, 268]);
  });

  it('is not needed for a type', async () => {
    await written('typed', 1);
    interface Deployed extends TimelineEvent {
      kind: 'deployed';
      url: string;
    }
    const kinds: string[] = [];
    const timeline = client().timeline<AgentEvent | Deployed>('chat/typed', { live: false });
    for await (const event of timeline) {
      kinds.push(event.kind === 'deployed' ? event.url : String(event.seq));
    }
    expect(kinds).toEqual(['0']);
  });
});
