/**
 * An agent with a scripted model, as a process that a test may kill: AGENT_TYPE, GATEWAY_URL, GATEWAY_API_KEY,
 * CATALOG_URL, PORT. Prints how each generation begins.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serve, TerminalError } from '@restatedev/restate-sdk';
import {
  defineAgent,
  type Generation,
  type ToolRequest,
} from '../../packages/client/src/agent/index.ts';

const { AGENT_TYPE = '', GATEWAY_URL = '', GATEWAY_API_KEY = '', CATALOG_URL, PORT } = process.env;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** How often a message was answered by this process. */
const attempts = new Map<string, number>();

async function* generate(generation: Generation): AsyncGenerator<string | ToolRequest> {
  const { message, written, turns, args, signal } = generation;
  const { text } = message;
  const said = written.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const results = written.flatMap((part) => (part.type === 'tool' ? [part] : []));
  say(`generate ${JSON.stringify({ text, written: said.split(' ').length - 1 })}`);
  const attempt = (attempts.get(text) ?? 0) + 1;
  attempts.set(text, attempt);
  const [verb = '', first = '', second = ''] = text.split(' ');
  if (verb === 'count') {
    for (let next = said.split(' ').length; next <= Number(first); next += 1) {
      if (second) await delay(Number(second), undefined, { signal });
      yield `${next} `;
    }
  } else if (verb === 'tool') {
    if (results.length === 0) yield { tool: first, input: { city: second } };
    else yield `I know: ${JSON.stringify(results)}`;
  } else if (verb === 'inline') {
    if (results.length === 0) {
      const output = yield { tool: 'weather', input: { city: first } };
      yield `It is ${JSON.stringify(output)}`;
    }
  } else if (verb === 'spawn') {
    if (results.length === 0) yield { tool: 'spawn', input: { type: AGENT_TYPE, id: first } };
    else yield 'spawned';
  } else if (verb === 'fail') {
    if (said === '') yield 'so far ';
    if (attempt <= Number(first)) throw new Error(`the model is away (${attempt})`);
    yield 'so good';
  } else if (verb === 'end') {
    throw new TerminalError('not today');
  } else if (verb === 'hang') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    say(`aborted ${text}`);
  } else if (verb === 'remember') {
    yield JSON.stringify({ turns, args });
  }
}

const agent = defineAgent({
  name: AGENT_TYPE,
  gatewayUrl: GATEWAY_URL,
  apiKey: GATEWAY_API_KEY,
  catalogUrl: CATALOG_URL,
  maxWaiting: 3,
  tools: {
    weather: ({ city }: { city: string }) => ({ city, degrees: 21 }),
    broken: () => {
      throw new Error('it is broken');
    },
  },
  generate,
});
const port = await serve({ services: agent.services, port: Number(PORT) });
say(`listening on http://127.0.0.1:${port}`);
