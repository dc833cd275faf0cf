import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent } from '../../packages/client/src/agent/index.ts';
import type {
  Agent,
  AgentOptions,
  Generation,
  ToolRequest,
} from '../../packages/client/src/agent/index.ts';
import { planReply, type ReplyPlan } from './reply.ts';

export interface AssistantOptions extends Omit<AgentOptions, 'rowService'> {
  /** The pause between two words of a streamed reply. */
  wordDelayMs: number;
}

const MAX_TEXT_LENGTH = 2_000;

/** An agent that needs no model: it says a planned reply word by word. docs/agents.md describes it. */
export function assistantAgent({ wordDelayMs, ...options }: AssistantOptions): Agent {
  return defineAgent({
    ...options,
    name: 'assistant',
    generate: (generation) => say(generation, wordDelayMs),
  });
}

async function* say(
  { message, written, signal }: Generation,
  wordDelayMs: number,
): AsyncGenerator<string | ToolRequest> {
  const plan = planReply(message.text.slice(0, MAX_TEXT_LENGTH), new Date());
  const spawned = written.find((part) => part.type === 'tool');
  if (plan.child && !spawned) {
    yield { tool: 'spawn', input: { ...plan.child } };
    return;
  }
  const words = wordsAfter(plan, spawned);
  const said = written.flatMap((part) => (part.type === 'text' ? part.text.split(' ') : []));
  for (const [index, word] of words.entries()) {
    if (index < said.length) continue;
    await delay(wordDelayMs, undefined, { signal });
    yield index === 0 ? word : ` ${word}`;
  }
}

function wordsAfter(
  { words, child }: ReplyPlan,
  spawned: Generation['written'][number] | undefined,
): string[] {
  if (!child || spawned?.type !== 'tool') return words;
  if (spawned.error !== undefined) return ['I', 'cannot', 'spawn', 'that.'];
  const { url } = spawned.output as { url: string };
  return [...words, url];
}
