import type { Generation, GeneratedPart } from '@agent-gateway/client/agent';
import { anthropicMessages, partsOfMessage } from './anthropic.ts';
import { completionMessages, partsOfCompletion } from './openai.ts';
import { startStandIn } from './stand-in.ts';

/** `openai`: any address that speaks its chat completions, such as `http://localhost:11434/v1`. */
const { MODEL_API = 'openai', MODEL_API_KEY = '', MODEL = 'stand-in' } = process.env;
const { MODEL_URL = await startStandIn() } = process.env;

const TOOLS: Record<string, { description: string; parameter: string; type: string }> = {
  weather: { description: 'The weather in a city.', parameter: 'city', type: 'string' },
  refund: { description: 'Refunds an amount.', parameter: 'amount', type: 'number' },
  research: { description: 'Finds out about an order.', parameter: 'question', type: 'string' },
};

interface Request extends Pick<Generation, 'turns' | 'message' | 'written' | 'signal'> {
  system?: string;
  /** The names of the tools that the model may use. */
  tools?: string[];
}

/** One request to the model: its text as it comes, what it used, and then the tools that it wants. */
export async function* complete(request: Request): AsyncGenerator<GeneratedPart> {
  const { system, tools = [], turns, message, written, signal } = request;
  const earlier = turns.flatMap((turn) => [
    { role: 'user', content: turn.message },
    { role: 'assistant', content: turn.reply },
  ]);
  const before = [...earlier, { role: 'user', content: message.text }].filter(
    ({ content }) => content !== '',
  );
  const isAnthropic = MODEL_API === 'anthropic';
  const schemas = tools.map((name) => schemaOf(name, isAnthropic));
  const common = { model: MODEL, stream: true, ...(schemas.length > 0 && { tools: schemas }) };
  const body = isAnthropic
    ? {
        ...common,
        max_tokens: 4096,
        ...(system !== undefined && { system }),
        messages: [...before, ...anthropicMessages(written)],
      }
    : {
        ...common,
        stream_options: { include_usage: true },
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: system }]),
          ...before,
          ...completionMessages(written),
        ],
      };
  const response = await fetch(`${MODEL_URL}/${isAnthropic ? 'messages' : 'chat/completions'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(isAnthropic
        ? { 'x-api-key': MODEL_API_KEY, 'anthropic-version': '2023-06-01' }
        : { authorization: `Bearer ${MODEL_API_KEY}` }),
    },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || !response.body) {
    throw new Error(`the model answers ${response.status} ${await response.text()}`.trim());
  }
  yield* isAnthropic ? partsOfMessage(response.body) : partsOfCompletion(response.body);
}

function schemaOf(name: string, isAnthropic: boolean): object {
  const tool = TOOLS[name];
  if (!tool) throw new Error(`the model knows no tool ${name}`);
  const { description, parameter, type } = tool;
  const schema = { type: 'object', properties: { [parameter]: { type } }, required: [parameter] };
  return isAnthropic
    ? { name, description, input_schema: schema }
    : { type: 'function', function: { name, description, parameters: schema } };
}
