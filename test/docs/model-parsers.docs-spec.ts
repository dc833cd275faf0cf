import { describe, expect, it } from '@jest/globals';
import { anthropicMessages, partsOfMessage } from '../../examples/llm-agent/anthropic.ts';
import { completionMessages, partsOfCompletion } from '../../examples/llm-agent/openai.ts';

/** Answers in the form that the two APIs document. They are written by hand: no model was asked. */
const COMPLETION = `: keep-alive

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"Two things."}}]}

data: {"choices":[{"index":0,"delta":{"content":"Für Sie "}}]}

data: {"choices":[{"index":0,"delta":{"content":"gern."}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"refund","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"amo"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"unt\\":50}"}},{"index":1,"id":"call_1","type":"function","function":{"name":"clock","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}}

data: [DONE]

`;
const MESSAGE = `event: message_start
data: {"type":"message_start","message":{"id":"m1","role":"assistant","content":[],"usage":{"input_tokens":2,"cache_read_input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Two things."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Für Sie "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"gern."}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"call_0","name":"refund","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"amo"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"unt\\":50}"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"call_1","name":"clock","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":34}}

event: message_stop
data: {"type":"message_stop"}

`;
const PARTS = [
  { reasoning: 'Two things.' },
  'Für Sie ',
  'gern.',
  { usage: { inputTokens: 12, outputTokens: 34 } },
  [
    { id: 'call_0', tool: 'refund', input: { amount: 50 } },
    { id: 'call_1', tool: 'clock', input: {} },
  ],
];
const PARSERS = [
  ['chat completion of OpenAI', partsOfCompletion, COMPLETION, 'data: [DONE]'],
  ['message of Anthropic', partsOfMessage, MESSAGE, 'event: message_stop'],
] as const;

describe.each(PARSERS)('a streamed %s', (_, partsOf, recorded, end) => {
  it.each([1, 7, 1000, 100_000])('is text, thoughts, usage and calls, cut every %d bytes', (size) =>
    expect(all(partsOf(cut(recorded, size)))).resolves.toEqual(PARTS),
  );

  it('is no answer if it was cut off', async () => {
    const half = recorded.slice(0, recorded.indexOf(end));
    await expect(all(partsOf(cut(half, 100)))).rejects.toThrow(
      'the stream of the model was cut off',
    );
  });

  it('is no answer if the model fails in the middle', async () => {
    const failure = 'data: {"type":"error","error":{"message":"Overloaded"}}\n\n';
    const half = recorded.slice(0, recorded.indexOf(end)) + failure;
    await expect(all(partsOf(cut(half, 100)))).rejects.toThrow('the model failed: Overloaded');
  });
});

describe('what was written', () => {
  const written = [
    { type: 'text', text: 'Sure. ' },
    { type: 'tool', id: 'kPvizP8a.1', name: 'refund', input: { amount: 50 }, output: 'ok' },
    { type: 'tool', id: 'kPvizP8a.2', name: 'clock', error: 'denied by a person' },
  ] as const;

  it('are messages of OpenAI with calls and results', () => {
    const called = (id: string, name: string, json: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: json } }],
    });
    expect(completionMessages(written)).toEqual([
      { role: 'assistant', content: 'Sure. ' },
      called('kPvizP8a.1', 'refund', '{"amount":50}'),
      { role: 'tool', tool_call_id: 'kPvizP8a.1', content: '"ok"' },
      called('kPvizP8a.2', 'clock', '{}'),
      { role: 'tool', tool_call_id: 'kPvizP8a.2', content: '{"error":"denied by a person"}' },
    ]);
  });

  it('are messages of Anthropic, whose ids have no dots', () => {
    const called = (id: string, name: string, input: object) => ({
      role: 'assistant',
      content: [{ type: 'tool_use', id, name, input }],
    });
    const result = (id: string, more: object) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, ...more }],
    });
    expect(anthropicMessages(written)).toEqual([
      { role: 'assistant', content: 'Sure.' },
      called('kPvizP8a_1', 'refund', { amount: 50 }),
      result('kPvizP8a_1', { content: '"ok"' }),
      called('kPvizP8a_2', 'clock', {}),
      result('kPvizP8a_2', { content: '{"error":"denied by a person"}', is_error: true }),
    ]);
  });
});

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const part of parts) list.push(part);
  return list;
}

/** In pieces of this many bytes, also in the middle of a letter. */
async function* cut(text: string, size: number): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size));
  }
}
