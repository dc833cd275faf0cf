import type { GeneratedPart, WrittenPart } from '@agent-gateway/client/agent';
import { dataOf } from './event-stream.ts';

interface Event {
  type: string;
  message?: { usage?: Counted };
  index?: number;
  content_block?: { type: string; id?: string; name?: string };
  delta?: { type?: string; text?: string; thinking?: string; partial_json?: string };
  usage?: Counted;
  error?: { message?: string };
}

interface Counted {
  input_tokens?: number;
  cache_creation_input_tokens?: number;
  cache_read_input_tokens?: number;
  output_tokens?: number;
}

/**
 * The parts of a streamed message of Anthropic: text and reasoning as they come, then the usage, then the calls of tools as one
 * list. Throws if the stream ends before `message_stop`.
 */
export async function* partsOfMessage(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<GeneratedPart, void> {
  const calls = new Map<number, { id: string; tool: string; json: string }>();
  let counted: Counted = {};
  let isWhole = false;
  for await (const data of dataOf(body)) {
    const { type, message, index = 0, content_block: block, delta, usage, error } = data as Event;
    if (error) throw new Error(`the model failed: ${error.message}`);
    if (type === 'message_stop') isWhole = true;
    // The numbers of a message_delta are those of the whole message so far.
    counted = { ...counted, ...message?.usage, ...usage };
    if (block?.type === 'tool_use') {
      calls.set(index, { id: block.id ?? '', tool: block.name ?? '', json: '' });
    }
    if (delta?.text) yield delta.text;
    if (delta?.thinking) yield { reasoning: delta.thinking };
    const call = calls.get(index);
    if (call && delta?.partial_json) call.json += delta.partial_json;
  }
  if (!isWhole) throw new Error('the stream of the model was cut off');
  const { input_tokens = 0, output_tokens = 0 } = counted;
  const { cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = counted;
  const inputTokens = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
  yield { usage: { inputTokens, outputTokens: output_tokens } };
  if (calls.size > 0) {
    yield [...calls.values()].map(({ json, ...call }) => ({
      ...call,
      input: JSON.parse(json || '{}'),
    }));
  }
}

/** What was said before a crash, a tool or a wait. The model continues with the text that comes last. */
export function anthropicMessages(written: readonly WrittenPart[]): object[] {
  return written.flatMap((part): object[] => {
    if (part.type === 'text') {
      // The API refuses an empty text, and one at the end that ends with a space.
      const content = part.text.trimEnd();
      return content === '' ? [] : [{ role: 'assistant', content }];
    }
    const { name, input = {}, output, error } = part;
    const id = part.id.replaceAll(/[^\w-]/g, '_');
    const content = JSON.stringify(error === undefined ? output : { error });
    const result = { type: 'tool_result', tool_use_id: id, content };
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
      { role: 'user', content: [{ ...result, ...(error !== undefined && { is_error: true }) }] },
    ];
  });
}
