import type { AcceptedCommand } from './agents.ts';
import type { AnswerReads } from './answer.ts';
import { APIError } from './api-error.ts';
import type { AgentEvent } from './events.ts';
import { isBeginOf, isNamedBy } from './own-turn.ts';
import { Timeline, type TimelineOptions } from './timeline.ts';

/** How long the client waits for an agent that says where a turn begins. */
const LOCATE_MS = 5_000;
const START = '-1';

/** Whose turn is looked for, and where. */
export interface SearchOptions {
  /** The path of the timeline. */
  path: string;
  command: AcceptedCommand;
  /** Asks the agent where the turn begins. */
  locate: (signal: AbortSignal) => Promise<AcceptedCommand>;
  /** Ends the search, which then gives the start. */
  signal: AbortSignal;
}

/**
 * Finds where the turn of a message begins that may have been sent before. The store can be read from its start only, so the
 * agent is asked. Its answer is checked, because anyone with a key may write one.
 */
export class TurnSearch {
  readonly #reads: AnswerReads;
  readonly #options: SearchOptions;

  constructor(reads: AnswerReads, options: SearchOptions) {
    this.#reads = reads;
    this.#options = options;
  }

  /**
   * The offset to read from: `from`, which was the end before the command, where the turn begins after it. Otherwise the
   * place that the agent names, or the start.
   */
  async placeAfter(from: string): Promise<string> {
    const { isReplay } = this.#options.command;
    if (from === START || (!isReplay && (await this.#beginsSoonAfter(from)))) return from;
    const { offset, isSeen } = await this.#located(from);
    if (offset === undefined) return START;
    return isSeen === true || (await this.#beginsAfter(offset)) ? offset : START;
  }

  async #beginsSoonAfter(from: string): Promise<boolean> {
    for await (const event of this.#events({ from, signal: this.#soon() })) {
      if (isBeginOf(event, this.#options.command)) return true;
    }
    return false;
  }

  /** No offset, if the agent does not know, does not answer, or cannot be asked. */
  async #located(from: string): Promise<{ offset?: string; isSeen?: boolean }> {
    const { command, locate } = this.#options;
    const signal = this.#soon();
    const asked = await locate(signal).catch(() => undefined);
    if (!asked) return {};
    for await (const event of this.#events({ from, signal })) {
      if (isBeginOf(event, command)) return { offset: from, isSeen: true };
      const { kind, invocationId, offset } = fieldsOf(event);
      if (kind === 'located' && invocationId === command.invocationId) {
        return typeof offset === 'string' ? { offset } : {};
      }
      const isRefusal = kind === 'error' || kind === 'refused';
      if (isRefusal && isNamedBy(event, asked)) return {};
    }
    return {};
  }

  /** Whether the turn begins among the existing events after an offset. */
  async #beginsAfter(from: string): Promise<boolean> {
    const { command, signal } = this.#options;
    try {
      for await (const event of this.#events({ from, signal, live: false, waitForStream: false })) {
        if (isBeginOf(event, command)) return true;
      }
    } catch (error) {
      // An offset of nobody's, or of a store that was restored.
      if (!(error instanceof APIError)) throw error;
    }
    return false;
  }

  #events(options: TimelineOptions): Timeline<AgentEvent> {
    const { transport, isRenewable } = this.#reads;
    return new Timeline<AgentEvent>(transport, this.#options.path, isRenewable, options);
  }

  #soon(): AbortSignal {
    return AbortSignal.any([this.#options.signal, AbortSignal.timeout(LOCATE_MS)]);
  }
}

/** Anyone with a key may append anything, also what is no object. */
function fieldsOf(event: unknown): Record<string, unknown> {
  return (event ?? {}) as Record<string, unknown>;
}
