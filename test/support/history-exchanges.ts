import { jest } from '@jest/globals';
import { pino } from 'pino';
import type { NameResolver } from '../../src/platform/names/name-resolver.ts';
import { RequestRecord } from '../../src/platform/telemetry/request-record.ts';
import type { UpstreamFailure } from '../../src/proxy/upstream/upstream-failure.ts';
import type {
  AnswerHandler,
  Exchange,
  ExchangeFailure,
  ExchangeRequest,
} from '../../src/proxy/upstream/exchange.ts';
import type { ReadUpstream } from '../../src/proxy/upstream/upstream.ts';
import { startRawStore, type RawRequest, type RawStore } from './raw-store.ts';
import { comes, fakeTime, pass, settled } from './fake-time.ts';
import { upstreamsWith } from './upstreams.ts';

export const RESPONSE_MS = 15_000;
export const LIVE_MS = 120_000;

/** The look-up of the store's name. */
class HeldNames {
  addresses = ['127.0.0.1'];
  /** Whether nobody gets an address from now on, so that no connection opens. */
  isSilent = false;
  failures = 0;

  addressesOf(): Promise<readonly string[]> {
    return this.isSilent ? new Promise(() => undefined) : Promise.resolve(this.addresses);
  }

  connectFailed(): void {
    this.failures++;
  }
}

/** A request and the calls that its handler got, in order. */
export class SentExchange implements AnswerHandler {
  readonly exchange: Exchange;
  readonly seen: unknown[] = [];
  failure: ExchangeFailure | undefined;

  constructor(upstream: ReadUpstream, request: ExchangeRequest, handler: Partial<AnswerHandler>) {
    Object.assign(this, handler);
    this.exchange = upstream.exchange(request, this);
  }

  onHead(statusCode: number): void {
    this.seen.push(statusCode);
  }

  onChunk(chunk: Buffer): void {
    this.seen.push(chunk.toString('latin1'));
  }

  onEnd(): void {
    this.seen.push('end');
  }

  onFailure(failure: ExchangeFailure): void {
    this.failure = failure;
    this.seen.push(failure.error.code);
  }

  /** Waits until it has ended or failed, and returns all calls. */
  async over(): Promise<unknown[]> {
    await comes(
      'the end of an exchange',
      () => this.failure !== undefined || this.seen.at(-1) === 'end',
    );
    return this.seen;
  }
}

/** The history store as an upstream, with a server behind it that answers as the test says. In fake time. */
export class HistoryExchanges {
  readonly store: RawStore;
  readonly names = new HeldNames();
  readonly upstream: ReadUpstream;
  /** The lines of the log. */
  readonly log: string[] = [];
  /** The end of each upstream request: its status, and why it failed. */
  readonly calls: [status: number | undefined, failure: UpstreamFailure | undefined][] = [];

  private constructor(store: RawStore, env: Record<string, string>) {
    this.store = store;
    const upstreams = upstreamsWith(
      {
        GATEWAY_HISTORY_URL: `http://store.test:${store.port}`,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_MS),
        GATEWAY_LIVE_TIMEOUT_MS: String(LIVE_MS),
        ...env,
      },
      {
        names: this.names as unknown as NameResolver,
        logger: pino({ level: 'error' }, { write: (line: string) => void this.log.push(line) }),
      },
    );
    upstreams.observe({ ended: ({ status, failure }) => this.calls.push([status, failure]) });
    this.upstream = upstreams.history;
  }

  /** Time is fake from now on, until `stop`. */
  static async start(env: Record<string, string> = {}, host?: string): Promise<HistoryExchanges> {
    fakeTime();
    return new HistoryExchanges(await startRawStore(host), env);
  }

  async stop(): Promise<void> {
    this.upstream.close();
    await this.store.stop();
    jest.useRealTimers();
  }

  /** Sends a plain read, unless the request is another one. */
  send(request: Partial<ExchangeRequest> = {}, handler: Partial<AnswerHandler> = {}): SentExchange {
    const { isLive = false } = request;
    return new SentExchange(
      this.upstream,
      {
        method: 'GET',
        target: '/t/x',
        headers: ['host', 'store.test'],
        context: new RequestRecord('r1', '/streams/t/x'),
        timeoutMs: this.upstream.timeoutMs(isLive),
        isLive,
        isRepeatable: true,
        ...request,
      },
      handler,
    );
  }

  /** Has so many connections answered at the same time and kept, and returns them as the store sees them. */
  async keep(
    count: number,
    request: Partial<ExchangeRequest> = {},
  ): Promise<RawRequest['socket'][]> {
    const first = this.store.requests.length;
    const sent = Array.from({ length: count }, () => this.send(request));
    await this.store.nth(first + count);
    const requests = this.store.requests.slice(first);
    for (const request of requests) request.answer();
    for (const each of sent) await each.over();
    this.calls.length = 0;
    // What is sent in the same millisecond would not be later.
    await pass(1);
    return requests.map(({ socket }) => socket);
  }

  /** The targets of all requests, once everything that is under way has come. */
  async targets(): Promise<string[]> {
    await settled();
    return this.store.requests.map(({ target }) => target);
  }
}
