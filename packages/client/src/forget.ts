import type { EntityAddress } from './address.ts';
import { APIError } from './api-error.ts';
import type { Invocations } from './invocations.ts';
import { pause } from './pause.ts';
import type { RequestOptions } from './transport.ts';

/** Options of `agents.forget`. */
export interface ForgetOptions extends RequestOptions {
  /** Whether the agents that it spawned are forgotten, too. They have receipts of their own. Default false. */
  children?: boolean;
  /** How long the agent may take, in milliseconds. Default 60,000. */
  timeoutMs?: number;
}

/** What was deleted of an agent, and what could not be. */
export interface ForgetReceipt {
  /** `/t/<tenant>/a/<type>/<id>`. */
  agent: string;
  /** When, as ISO 8601. */
  at: string;
  /** `deleted`, or why events are still there. */
  timeline: string;
  /** `deleted`, or `none` for an agent without a catalog. */
  row: string;
  /** The children that were asked to forget, too. */
  children: string[];
  /** How many ended invocations were deleted in Restate, with their journals. */
  invocations: number;
  /** The invocations that could not be deleted. Restate forgets them when their retention ends, within a day by default. */
  remaining: string[];
}

const DEFAULT_TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_MS = 1_000;
/** So many at a time. */
const PAGE = 1_000;

/** Sends the command, waits for its end, and deletes what Restate keeps of ended invocations. */
export async function forgetAgent(
  agent: EntityAddress,
  invocations: Invocations,
  send: () => Promise<unknown>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, ...options }: Omit<ForgetOptions, 'children'>,
): Promise<ForgetReceipt> {
  // Before anything is deleted: whether the key may ask for the receipt.
  await invocations.list({ agent, limit: 1, ...options });
  await send();
  const giveUpAtMs = performance.now() + timeoutMs;
  let mark = await markOf(agent, invocations, options);
  for (let pauseMs = 50; !mark; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (performance.now() > giveUpAtMs) {
      throw new APIError(`The agent has not been forgotten within ${timeoutMs} ms; ask again.`, {
        code: 'not_forgotten',
      });
    }
    await pause(pauseMs, options.signal);
    mark = await markOf(agent, invocations, options);
  }
  const { agent: url, at, timeline, row, children } = mark;
  return {
    agent: url,
    at,
    timeline,
    row,
    children,
    ...(await purgeAll(agent, invocations, options)),
  };
}

/** Deletes all that Restate keeps, page by page: an answer ends meanwhile, and an agent may have had more than a page of them in a day. */
async function purgeAll(
  agent: EntityAddress,
  invocations: Invocations,
  options: RequestOptions,
): Promise<Pick<ForgetReceipt, 'invocations' | 'remaining'>> {
  const seen = new Set<string>();
  const remaining: string[] = [];
  for (;;) {
    const ended = await invocations.list({ agent, isEnded: true, limit: PAGE, ...options });
    const found = ended.filter(({ id }) => !seen.has(id));
    if (found.length === 0) return { invocations: seen.size - remaining.length, remaining };
    for (const { id } of found) {
      seen.add(id);
      await invocations.purge(id, options).catch(() => remaining.push(id));
    }
  }
}

type Mark = Pick<ForgetReceipt, 'agent' | 'at' | 'timeline' | 'row' | 'children'>;

async function markOf(
  agent: EntityAddress,
  invocations: Invocations,
  options: RequestOptions,
): Promise<Mark | undefined> {
  const text = await invocations.stateOf(agent, 'entity', options);
  const state = text === undefined ? {} : (JSON.parse(text) as { forgotten?: Mark });
  return state.forgotten;
}
