import type { AcceptedCommand } from './agents.ts';
import type { Delay } from './answer-error.ts';
import type { AnswerReads } from './answer.ts';
import type { AgentEvent, StatusEvent } from './events.ts';
import type { Turn } from './turn.ts';

/** How long the client asks for the reason of a missing answer. */
const REASON_TIMEOUT_MS = 5_000;

/** Finds why a turn does not begin: from the events that its answer reads, the catalog, and Restate. */
export class AnswerDelay {
  readonly #reads: AnswerReads;
  #status: Pick<StatusEvent, 'status' | 'reason' | 'attempt'> | undefined;
  /** The messages whose turns have ended. */
  readonly #ended = new Set<number>();

  constructor(reads: AnswerReads) {
    this.#reads = reads;
  }

  /** Takes an event of anybody. */
  take(event: AgentEvent): void {
    const { kind, replyTo } = (event ?? {}) as { kind?: unknown; replyTo?: unknown };
    if (kind === 'status') this.#status = event as StatusEvent;
    const isEnd = kind === 'reply' || kind === 'error';
    if (isEnd && typeof replyTo === 'number') this.#ended.add(replyTo);
  }

  /** Never rejects, because most keys may not ask everybody, and the reason is only a help. */
  async why(
    turn: Turn | undefined,
    isSearched: boolean,
    { url }: AcceptedCommand,
    signal: AbortSignal | undefined,
  ): Promise<Delay> {
    const isNoted = turn !== undefined;
    if (!isSearched) {
      const reason = 'it has not said where the answer to the earlier message is';
      return { reasons: [reason], isNoted, invocations: undefined };
    }
    const limit = AbortSignal.timeout(REASON_TIMEOUT_MS);
    const ended = signal ? AbortSignal.any([limit, signal]) : limit;
    const once = { timeoutMs: REASON_TIMEOUT_MS, onRetry: () => false, signal: ended };
    const [invocations, status] = await Promise.all([
      this.#reads.invocations.list({ agent: url, ...once }).catch(() => undefined),
      this.#rowStatus(url, ended).catch(() => undefined),
    ]);
    return { reasons: this.#reasons(turn, status), isNoted, invocations };
  }

  /** Electric's own client is not used: it would keep a process for a minute, and a page would load it for this alone. */
  async #rowStatus(url: string, signal: AbortSignal): Promise<string | undefined> {
    const row = { table: 'entities', where: 'url = $1', 'params[1]': url };
    let place: Record<string, string> = { offset: '-1' };
    let status: string | undefined;
    for (;;) {
      const { headers, text } = await this.#reads.transport.request({
        method: 'GET',
        path: '/shapes/v1/shape',
        query: { ...row, ...place },
        isIdempotent: true,
        retryForMs: 0,
        signal,
      });
      const messages = JSON.parse(text) as { value?: { status?: string } }[];
      for (const { value } of messages) status = value?.status ?? status;
      const [handle, offset] = ['electric-handle', 'electric-offset'].map((name) =>
        headers.get(name),
      );
      if (headers.has('electric-up-to-date') || !handle || !offset) return status;
      place = { handle, offset };
    }
  }

  #reasons(turn: Turn | undefined, rowStatus: string | undefined): string[] {
    const { status = rowStatus, reason, attempt } = this.#status ?? {};
    const ahead = this.#ahead(turn);
    const others = ahead === 1 ? '1 other turn is' : `${ahead} other turns are`;
    return [
      ...(status === 'paused' ? ['it is paused'] : []),
      ...(ahead > 0 ? [`${others} before it`] : []),
      ...(rowStatus === 'waiting' ? ["a turn before it waits for a person's decision"] : []),
      ...(status === 'failing' ? [failing(reason, attempt)] : []),
    ];
  }

  #ahead(turn: Turn | undefined): number {
    const { seq = 0, ahead = 0 } = turn ?? {};
    const ended = [...this.#ended].filter((replyTo) => replyTo < seq);
    return Math.max(0, ahead - ended.length);
  }
}

function failing(reason: unknown, attempt: unknown): string {
  const count = typeof attempt === 'number' ? ` (attempt ${attempt})` : '';
  return `it is failing${count}${typeof reason === 'string' ? `: ${reason}` : ''}`;
}
