/**
 * An agent with a scripted model, as a process that a test may kill: AGENT_TYPE, GATEWAY_URL, GATEWAY_API_KEY,
 * CATALOG_URL, CATALOG_TOKEN, PORT. Prints how each generation begins.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { serve, TerminalError } from '@restatedev/restate-sdk';
import {
  agentTool,
  defineAgent,
  type GeneratedPart,
  type Generation,
  type ToolContext,
} from '../../packages/client/src/agent/index.ts';

const { AGENT_TYPE = '', GATEWAY_URL = '', GATEWAY_API_KEY = '', PORT } = process.env;
const { CATALOG_URL, CATALOG_TOKEN, WAIT_MS, VERSION = '' } = process.env;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** How often a message was answered by this process. */
const attempts = new Map<string, number>();

async function* generate(generation: Generation): AsyncGenerator<GeneratedPart> {
  const { message, written, turns, args, signal } = generation;
  const { text } = message;
  const said = written.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const results = written.flatMap((part) => (part.type === 'tool' ? [part] : []));
  say(`generate${VERSION} ${JSON.stringify({ text, written: said.split(' ').length - 1 })}`);
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
  } else if (verb === 'pay') {
    if (results.length === 0) yield { tool: 'pay', input: { amount: Number(first) }, id: 'call_0' };
    else yield `paid: ${JSON.stringify(results.map(({ id: _id, ...result }) => result))}`;
  } else if (verb === 'both') {
    if (results.length === 0) {
      const outputs = yield [
        { tool: 'pay', input: { amount: 50 }, id: 'call_0' },
        { tool: 'weather', input: { city: first }, id: 'call_0' },
      ];
      yield `at once ${JSON.stringify(outputs)}`;
    } else yield `later ${JSON.stringify(results.map(({ output, error }) => output ?? error))}`;
  } else if (verb === 'all') {
    if (results.length === 0) {
      if (said === '') yield 'first ';
      yield [
        { tool: 'pay', input: { amount: Number(first) } },
        { tool: 'weather', input: { city: 'Rome' } },
      ];
    } else if (results.length === 2) {
      if (!said.includes('second')) yield 'second ';
      yield { tool: 'helper', input: `to ${second} count 3` };
    } else if (!said.includes('third')) yield 'third';
  } else if (verb === 'held') {
    if (results.length === 0) yield { tool: 'held' };
    else yield `held: ${JSON.stringify(results.map(({ output, error }) => output ?? error))}`;
  } else if (verb === 'anybody') {
    if (results.length === 0) yield { tool: 'anybody', input: 'count 1' };
    else yield `it said ${JSON.stringify(results.map(({ output, error }) => output ?? error))}`;
  } else if (verb === 'pair') {
    if (results.length === 0)
      yield [{ tool: 'helper', input: `to ${first} hang` }, { tool: 'hang' }];
  } else if (verb === 'child') {
    if (results.length === 0) yield { tool: 'helper', input: text.slice('child '.length) };
    else yield `it said ${JSON.stringify(results.map(({ output, error }) => output ?? error))}`;
  } else if (verb === 'remind') {
    if (results.length === 0)
      yield { tool: 'remind', input: { afterMs: Number(first), what: second } };
    else yield `reminder ${JSON.stringify(results[0]?.output)}`;
  } else if (verb === 'where') {
    if (results.length === 0) yield { tool: 'where' };
    else yield JSON.stringify(results[0]?.output);
  } else if (verb === 'parts') {
    yield { reasoning: 'let me ' };
    yield { reasoning: 'think' };
    yield { usage: { inputTokens: 5, outputTokens: 2 } };
    yield 'said';
    yield { data: { chart: [1, 2] } };
    yield { usage: { inputTokens: 1, cost: 0.5 } };
  } else if (verb === 'unknown') {
    yield undefined as unknown as string;
  } else if (verb === 'odd') {
    const circle: unknown[] = [];
    circle.push(circle);
    const odd = { bigint: 1n, function: () => 1, circle }[second];
    if (results.length === 0)
      yield { data: { data: odd }, input: { tool: 'where', input: odd }, message: { tool: 'odd' } }[
        first
      ] as unknown as string;
    else yield `it said ${JSON.stringify(results.map(({ error }) => error))}`;
  } else if (verb === 'silent') {
    if (attempt === 1) await new Promise(() => {});
    yield 'awake';
  } else if (verb === 'remember') {
    yield JSON.stringify({ turns, args });
  }
}

/** What zod would make. */
const amountSchema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) =>
      Number.isFinite((value as { amount?: unknown } | null)?.amount)
        ? { value }
        : { issues: [{ message: 'must be a number', path: ['amount'] }] },
  },
};

const agent = defineAgent({
  name: AGENT_TYPE,
  gatewayUrl: GATEWAY_URL,
  apiKey: GATEWAY_API_KEY,
  catalogUrl: CATALOG_URL,
  catalogToken: CATALOG_TOKEN,
  maxWaiting: 3,
  // A busy machine must not take an answer that hangs on purpose for a model that failed.
  idleTimeoutMs: 60_000,
  tools: {
    weather: ({ city }: { city: string }) => ({ city, degrees: 21 }),
    pay: {
      run: ({ amount }: { amount: number }, { key }: ToolContext) => {
        say(`paid ${amount} with ${key}`);
        return { paid: amount };
      },
      input: amountSchema,
      approval: ({ amount }: { amount: number }) => {
        if (amount === 13) throw new Error('nobody knows');
        return amount > 10;
      },
      ...(WAIT_MS && { waitMs: Number(WAIT_MS) }),
    },
    helper: agentTool({
      type: AGENT_TYPE,
      id: (text: string) => /^to (\S+) /.exec(text)?.[1] ?? 'helper',
      message: (text: string) => text.replace(/^to \S+ /, ''),
    }),
    anybody: agentTool({
      type: AGENT_TYPE,
      id: () => randomUUID(),
      message: (text: string) => text,
    }),
    odd: agentTool({ type: AGENT_TYPE, message: () => 1n as unknown as string }),
    remind: ({ afterMs, what }: { afterMs: number; what: string }, { agent }: ToolContext) =>
      agent.remind(`count ${what}`, { delayMs: afterMs }),
    where: (_: unknown, { agent, args, call }: ToolContext) => ({
      ...agent,
      args,
      number: call.number,
    }),
    /** Ends when the test lets the gateway's answer through. */
    held: {
      run: async () => (await fetch(`${GATEWAY_URL}/held`)).status,
      approval: true,
      waitMs: 5_000,
    },
    hang: (_: unknown, { signal }: ToolContext) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve)),
    broken: () => {
      throw new Error('it is broken');
    },
  },
  generate,
});
const port = await serve({ services: agent.services, port: Number(PORT) });
say(`listening on http://127.0.0.1:${port}`);
