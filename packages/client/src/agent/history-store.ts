import type { Context } from '@restatedev/restate-sdk';
import { checkedPath } from '../path.ts';
import { secretText } from '../secret-text.ts';
import { describe, request, type Answer, type GatewayAccess } from './gateway-client.ts';
import { isObject, isSameJson, type Json } from './json.ts';
import { traceOf } from './trace.ts';

/** An event as it goes to the store, and the number under which it goes. */
export interface Append {
  line: string;
  seq: number;
  epoch: number;
  producerSeq: number;
  /** The offset after the event before this one, if it is known. */
  after?: string;
}

/** What the store has after the events that the agent knows. */
export interface Tail {
  /** The number of the next event. */
  nextSeq: number;
  offset: string;
  /** The numbers of the messages in it, by the names of their turns. */
  messages: Record<string, number>;
  /** The messages whose turns have ended in it, by their numbers. */
  ended: number[];
}

export type AppendOutcome =
  | { appended: string }
  /** The event itself is at fault. */
  | { refusal: string }
  /** The store knows other events than the agent, or another epoch. */
  | { differs: { epoch?: number } }
  | { missing: true }
  /** Nothing can ever be written there. */
  | { closed: string };

const TOO_LARGE = 413;
const REQUEST_AT_FAULT = [400, 415, 422];
const CONFLICT = 409;
const GONE = 410;
/** Before the first event. */
const BEGINNING = '-1';

/**
 * The requests to one timeline in the history store, each for use in `ctx.run`. They throw an Error for everything that is not the
 * word of the store or of the gateway, such as the page of a proxy, so that Restate retries the step.
 */
export class HistoryStore {
  readonly #access: GatewayAccess;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #attemptEnded: AbortSignal;

  constructor(ctx: Pick<Context, 'request'>, access: GatewayAccess, stream: string) {
    this.#access = access;
    this.#url = `${access.streamsUrl ?? `${access.gatewayUrl}/streams`}${checkedPath(stream)}`;
    this.#headers = { ...traceOf(ctx), authorization: `Bearer ${secretText(access.apiKey)}` };
    this.#attemptEnded = ctx.request().attemptCompletedSignal;
  }

  /** Creates the stream. An existing one stays as it is. @returns why it cannot be created, or null. */
  async create(): Promise<string | null> {
    const answer = await this.#ask('PUT', { 'content-type': 'application/json' });
    if (isDone(answer)) return null;
    const { status } = answer;
    // The store keeps a deleted stream for its forks, or has one of another kind there: it says so to a HEAD, too.
    const isTaken = status === CONFLICT && [200, GONE].includes((await this.#ask('HEAD')).status);
    const isFinal = isTaken || status === GONE || REQUEST_AT_FAULT.includes(status);
    if (!isFinal || !this.#isOwn(answer)) throw foreign('PUT', answer);
    return describe(answer);
  }

  async append({ line, seq, epoch, producerSeq, after }: Append): Promise<AppendOutcome> {
    const headers = {
      'content-type': 'application/json',
      'producer-id': 'agent',
      'producer-epoch': String(epoch),
      'producer-seq': String(producerSeq),
    };
    const answer = await this.#ask('POST', headers, line);
    const { status } = answer;
    if (status === 204 && (isDone(answer) || answer.headers.has('producer-seq'))) {
      // The store has an event of this number: the same one only if an earlier attempt appended it.
      const found = await this.#read(after, seq);
      if (!found || found.first === undefined) return { differs: {} };
      const isSame = isSameEvent(found.first, JSON.parse(line) as Json);
      return isSame && found.nextSeq === seq + 1 ? { appended: found.offset } : { differs: {} };
    }
    if (status < 300 && isDone(answer)) {
      return { appended: answer.headers.get('stream-next-offset') ?? '' };
    }
    if (status === TOO_LARGE) return { refusal: describe(answer) };
    if (status < 300 || !this.#isOwn(answer)) throw foreign('POST', answer);
    return this.#refusalOf(answer, producerSeq);
  }

  /** Reads what is after an offset, or all where that does not lead to the next event. */
  async tail(after: string | undefined, knownSeq: number): Promise<Tail> {
    const { status, headers } = await this.#ask('HEAD');
    if (status === 200 && after !== undefined && headers.get('stream-next-offset') === after) {
      return { ...NOTHING, nextSeq: knownSeq, offset: after };
    }
    const more = after === undefined ? undefined : await this.#read(after, knownSeq);
    const found = more?.first === undefined ? await this.#read(undefined, knownSeq) : more;
    const { nextSeq, offset, messages, ended } = found ?? NOTHING;
    return { nextSeq, offset, messages, ended };
  }

  /** Deletes the stream. @returns what remains, or null. */
  async remove(): Promise<string | null> {
    const answer = await this.#ask('DELETE');
    if (answer.status >= 300 && !this.#isOwn(answer)) throw foreign('DELETE', answer);
    if (answer.status >= 300 && answer.status !== 404 && answer.status !== GONE)
      return describe(answer);
    // A stream with forks is still read through them. The store says so only afterwards.
    const { status } = await this.#ask('HEAD');
    return status === GONE ? 'its forks still have its events' : null;
  }

  async #refusalOf(answer: Answer, producerSeq: number): Promise<AppendOutcome> {
    const { status, headers } = answer;
    const epoch = Number(headers.get('producer-epoch') ?? Number.NaN);
    if (status === 403 && Number.isSafeInteger(epoch)) return { differs: { epoch } };
    if (headers.get('stream-closed') === 'true') return { closed: 'it is closed' };
    if (status === CONFLICT) return { differs: {} };
    if (status === GONE) return { closed: 'it was deleted, and its forks keep it' };
    if (REQUEST_AT_FAULT.includes(status)) {
      // A store that was restored takes a newer epoch only from its beginning.
      return producerSeq > 0 ? { differs: {} } : { refusal: describe(answer) };
    }
    if (status === 404 && (await this.#ask('HEAD')).status === 404) return { missing: true };
    throw foreign('POST', answer);
  }

  /** Reads from an offset to the end. Undefined if the store does not have the offset; it has the beginning of every stream. */
  async #read(after = BEGINNING, firstSeq: number): Promise<Found | undefined> {
    const nextSeq = after === BEGINNING ? 0 : firstSeq;
    const found: Found = { nextSeq, offset: after, messages: {}, ended: [] };
    for (;;) {
      const query = `?offset=${encodeURIComponent(found.offset)}`;
      const answer = await this.#ask('GET', {}, undefined, query);
      const offset = answer.headers.get('stream-next-offset');
      if (answer.status !== 200 || offset === null) {
        const isOffsetGone = answer.status >= 400 && this.#isOwn(answer) && after !== BEGINNING;
        if (isOffsetGone) return undefined;
        throw foreign('GET', answer);
      }
      const events = JSON.parse(answer.text || '[]') as Json;
      for (const event of Array.isArray(events) ? events : []) {
        count(found, event, firstSeq);
      }
      const isEnd = answer.headers.has('stream-up-to-date') || offset === found.offset;
      found.offset = offset;
      if (isEnd) return found;
    }
  }

  #ask(method: string, more = {}, body?: string, query = ''): Promise<Answer> {
    const init = { method, headers: { ...this.#headers, ...more }, ...(body && { body }) };
    return request(this.#url + query, init, this.#attemptEnded);
  }

  /** The gateway names each request, also one that a proxy before the store answered: with a page. The store answers in plain text. */
  #isOwn({ headers }: Answer): boolean {
    const type = headers.get('content-type') ?? 'text/plain';
    if (headers.has('x-request-id')) return !type.startsWith('text/html');
    return this.#access.streamsUrl !== undefined && /^text\/plain\b/.test(type);
  }
}

/** `first` is the event of the number that was looked for. */
type Found = Tail & { first?: Json };

const NOTHING: Tail = { nextSeq: 0, offset: BEGINNING, messages: {}, ended: [] };

function count(found: Found, event: Json, firstSeq: number): void {
  if (!isObject(event) || !Number.isSafeInteger(event.seq)) return;
  const seq = event.seq as number;
  if (seq === firstSeq) found.first = event;
  found.nextSeq = seq + 1;
  if (seq < firstSeq) return;
  const { kind, invocationId, replyTo } = event;
  if (kind === 'message' && typeof invocationId === 'string') found.messages[invocationId] = seq;
  if ((kind === 'reply' || kind === 'error') && typeof replyTo === 'number')
    found.ended.push(replyTo);
}

/** Whatever their times are: where an invocation was killed after its append, the next one gives the event a time of its own. */
function isSameEvent(one: Json, other: Json): boolean {
  return (
    isObject(one) && isObject(other) && isSameJson({ ...one, at: null }, { ...other, at: null })
  );
}

function isDone({ status, headers }: Answer): boolean {
  return status >= 200 && status < 300 && headers.has('stream-next-offset');
}

function foreign(method: string, answer: Answer): Error {
  return new Error(`${method} of the timeline: ${describe(answer)}`);
}
