import { setTimeout as delay } from 'node:timers/promises';
import { TerminalError } from '@restatedev/restate-sdk';
import {
  agentTool,
  defineAgent,
  type Agent,
  type AgentOptions,
  type GeneratedPart,
  type Generation,
} from '../../../packages/client/src/agent/index.ts';

/** What a failing framework in Python writes: lines with a `\n` of two characters between them. */
export const TRACEBACK =
  'Traceback (most recent call last):\\n  File "clerk.py", line 7, in answer\\nKeyError: \'price\'';

/**
 * An agent with a scripted model, for the pictures of the docs and for the search of causes. A message begins with what happens: `refund 90` waits
 * for a person, `lookup` calls a tool that works, and `broken` one that does not. `ask` asks another agent, and `desk` one that waits for a
 * person. `away 3` fails that often, `never` without an end, `wrong` for good, `traceback` as a framework in Python does.
 */
export function shopAgents(options: Omit<AgentOptions, 'rowService'>): Agent[] {
  const clerk = defineAgent({
    ...options,
    name: 'clerk',
    async *generate() {
      yield 'The warehouse has 12 of them.';
      yield { usage: { inputTokens: 310, outputTokens: 24 } };
      await delay(1);
    },
  });
  const attempts = new Map<string, number>();
  const shop = defineAgent({
    ...options,
    name: 'shop',
    generate: (generation) => answer(generation, attempts),
    tools: {
      orders: async () => {
        await delay(120);
        return { order: '2026-1093', paid: 90, shipped: true };
      },
      refund: {
        approval: true,
        run: async () => {
          await delay(60);
          return { refunded: true };
        },
      },
      ledger: () => {
        throw new TerminalError('the ledger is closed until Monday');
      },
      desk: agentTool({ type: 'shop', message: () => 'refund 5' }),
      warehouse: agentTool({ type: 'clerk', message: () => 'How many are left?' }),
    },
  });
  return [shop, clerk];
}

async function* answer(
  { message, written, turns }: Generation,
  attempts: Map<string, number>,
): AsyncGenerator<GeneratedPart> {
  const [verb = '', first = ''] = message.text.split(' ');
  const results = written.flatMap((part) => (part.type === 'tool' ? [part] : []));
  const key = `${turns.length} ${message.text}`;
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  const usage = { usage: { inputTokens: 1_204, outputTokens: 86, cost: 0.0041 } };
  if (verb === 'never' || (verb === 'away' && attempt <= Number(first))) {
    throw new Error('401 invalid x-api-key: the model refuses the key of this agent');
  }
  if (verb === 'traceback') throw new Error(TRACEBACK);
  if (verb === 'wrong') throw new TerminalError('no model named gpt-unknown');
  if (results.length > 0 && verb !== 'please') {
    yield 'It is done.';
    yield usage;
    return;
  }
  yield usage;
  if (verb === 'refund') {
    yield 'I have to ask before I give money back.';
    yield { tool: 'refund', input: { order: '2026-1093', amount: Number(first), currency: 'EUR' } };
  } else if (verb === 'lookup') yield { tool: 'orders', input: { customer: 'ada' } };
  else if (verb === 'broken') yield { tool: 'ledger', input: { month: '2026-11' } };
  else if (verb === 'ask') yield { tool: 'warehouse', input: {} };
  else if (verb === 'desk') yield { tool: 'desk', input: {} };
  else if (verb === 'please') yield* refundAfterALook(results.length);
  else yield `You said: ${message.text}`;
}

/** The conversation of the picture in the README. */
async function* refundAfterALook(step: number): AsyncGenerator<GeneratedPart> {
  if (step === 0) {
    yield 'I am sorry about that. Let me look at the order first.';
    yield { tool: 'orders', input: { customer: 'anna@example.com', order: '2026-1093' } };
  } else if (step === 1) {
    yield 'The order was paid and shipped:\n\n| Order | Paid | Arrived |\n|---|---|---|\n| 2026-1093 | 90.00 € | damaged |\n\nA refund of **90.00 €** needs a person’s yes, so I have asked for one.';
    yield { tool: 'refund', input: { order: '2026-1093', amount: 90, currency: 'EUR' } };
  } else yield 'Done: the 90.00 € are on their way back to you.';
  await delay(1);
}
