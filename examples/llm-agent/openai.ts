import type { GeneratedPart, WrittenPart } from '@agent-gateway/client/agent';
import { dataOf } from './event-stream.ts';

interface Chunk {
  choices?: { delta?: Delta }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  error?: { message?: string };
}

interface Delta {
  content?: string | null;
  /** Servers of open models send what the model thinks in one of these. */
  reasoning_content?: string | null;
  reasoning?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

/**
 * The parts of a streamed chat completion of OpenAI: text and reasoning as they come, then the usage, which
 * `stream_options: { include_usage: true }` asks for, then the calls of tools as one list. Throws if the stream ends before `[DONE]`.
 */
export async function* partsOfCompletion(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<GeneratedPart, void> {
  const calls: { id?: string; tool: string; json: string }[] = [];
  let isWhole = false;
  let counted: Chunk['usage'];
  for await (const data of dataOf(body)) {
    if (data === '[DONE]') isWhole = true;
    const { choices, usage, error } = data as Chunk;
    if (error) throw new Error(`the model failed: ${error.message}`);
    counted = usage ?? counted;
    const { content, tool_calls = [], ...delta } = choices?.[0]?.delta ?? {};
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (reasoning) yield { reasoning };
    if (content) yield content;
    for (const { index, id, function: piece } of tool_calls) {
      const call = (calls[index] ??= { tool: '', json: '' });
      if (id) call.id = id;
      call.tool += piece?.name ?? '';
      call.json += piece?.arguments ?? '';
    }
  }
  if (!isWhole) throw new Error('the stream of the model was cut off');
  if (counted) {
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = counted;
    yield { usage: { inputTokens, outputTokens } };
  }
  if (calls.length > 0) {
    yield calls.map(({ json, ...call }) => ({ ...call, input: JSON.parse(json || '{}') }));
  }
}

/** What was said before a crash, a tool or a wait. The model continues with the text that comes last. */
export function completionMessages(written: readonly WrittenPart[]): object[] {
  return written.flatMap((part): object[] => {
    if (part.type === 'text') return [{ role: 'assistant', content: part.text }];
    const { id, name, input = {}, output, error } = part;
    const call = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
    const content = JSON.stringify(error === undefined ? output : { error });
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content },
    ];
  });
}
