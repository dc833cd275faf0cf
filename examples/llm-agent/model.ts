import type { ToolRequest, WrittenPart } from '@agent-gateway/client/agent';
import { startStandIn } from './stand-in.ts';

/** Any address that speaks OpenAI's chat completions, such as `http://localhost:11434/v1`. */
const { MODEL_URL = await startStandIn(), MODEL_API_KEY = '', MODEL = 'stand-in' } = process.env;

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

interface Request {
  messages: object[];
  written: readonly WrittenPart[];
  signal: AbortSignal;
}

interface Delta {
  content?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

/** One request to the model: its text as it comes, and then the tools that it wants. */
export async function* complete(request: Request): AsyncGenerator<string | ToolRequest> {
  const { messages, written, signal } = request;
  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MODEL_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      tools: TOOLS,
      messages: [...messages, ...written.flatMap(messagesOf)],
    }),
    signal,
  });
  if (!response.ok || !response.body) {
    throw new Error(`the model answers ${response.status} ${await response.text()}`.trim());
  }
  const calls: { id: string; name: string; input: string }[] = [];
  for await (const { content, tool_calls = [] } of deltasOf(response.body)) {
    if (content) yield content;
    for (const { index, id, function: part } of tool_calls) {
      const call = (calls[index] ??= { id: id ?? `call-${index}`, name: '', input: '' });
      call.name += part?.name ?? '';
      call.input += part?.arguments ?? '';
    }
  }
  for (const { id, name, input } of calls)
    yield { id, tool: name, input: JSON.parse(input || '{}') };
}

/** What was said before a crash or a tool. The model continues with the text that comes last. */
function messagesOf(part: WrittenPart): object[] {
  if (part.type === 'text') return [{ role: 'assistant', content: part.text }];
  const { id, name, input = {}, output, error } = part;
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    {
      role: 'tool',
      tool_call_id: id,
      content: JSON.stringify(error === undefined ? output : { error }),
    },
  ];
}

/** The lines `data: {…}` of an event stream, up to `data: [DONE]`. Throws if it ends before. */
async function* deltasOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Delta> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data === '[DONE]') return;
      if (data !== '')
        yield (JSON.parse(data) as { choices: { delta: Delta }[] }).choices[0]?.delta ?? {};
    }
  }
  throw new Error('the stream of the model was cut off');
}
