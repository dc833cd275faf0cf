import type { Logger } from 'pino';
import { awakeMs } from '../../platform/clock/awake-clock.ts';
import { UnorderedList } from '../../platform/collections/unordered-list.ts';
import type { SecretList } from '../../platform/config/secret-list.ts';
import { internalError, type GatewayError } from '../../platform/errors/gateway-error.ts';
import type { ProxiedPrefix } from '../../contract/routes.ts';
import { tcpAddress } from './tcp-address.ts';
import type { NameResolver } from '../../platform/names/name-resolver.ts';
import type { RequestRecord } from '../../platform/telemetry/request-record.ts';
import type { AttemptObserver } from './attempt.ts';
import type { UpstreamName } from './upstream-failure.ts';
import { Addresses } from './connections/addresses.ts';
import { ConnectionPool } from './connections/connection-pool.ts';
import { connectorTo, type Connector } from './connections/connector.ts';
import { tryConnect } from './connections/try-connect.ts';
import {
  Exchange,
  type AnswerHandler,
  type ExchangeRequest,
  type ExchangeUpstream,
} from './exchange.ts';
import type { ReadProtocol, UpstreamProtocol } from './protocols/upstream-protocol.ts';

/** What an upstream is made of. Its origin, base path and credential come only from the settings. */
export interface UpstreamOptions<Protocol extends UpstreamProtocol> {
  name: UpstreamName;
  url: string;
  protocol: Protocol;
  /** The public prefix that stands for the upstream's base URL, if it has one. */
  prefix?: ProxiedPrefix;
  credential: SecretList<string>;
  /** Whether its credential is the header `Authorization`. */
  isBearer: boolean;
  /** Whether connections are kept for further requests. */
  keepsConnections: boolean;
  names: NameResolver;
  timeouts: UpstreamTimeouts;
  observers: readonly AttemptObserver[];
  logger: Logger;
}

/** Timeouts in milliseconds. */
interface UpstreamTimeouts {
  connectMs: number;
  responseMs: number;
  liveMs: number;
  upstreamStallMs: number;
}

/** How often the exchanges without a response are checked. */
const CHECK_INTERVAL_MS = 100;
/** The share of its time after which a request without a byte of its response is probed. */
const PROBE_SHARE = 0.25;
/** The share of the time of a live read after which one that is silent is broken off, so that its readers come again. */
const SILENT_SHARE = 0.75;

/** A server behind the gateway, and its connections. */
export class Upstream<
  Protocol extends UpstreamProtocol = UpstreamProtocol,
> implements ExchangeUpstream {
  readonly name: UpstreamName;
  readonly base: URL;
  /** The path of the base URL without a trailing slash, or empty. */
  readonly basePath: string;
  readonly protocol: Protocol;
  readonly credentialSetting: string;
  readonly observers: readonly AttemptObserver[];
  readonly waiting = new UnorderedList<Exchange>();
  /** When the first of them may be due. */
  private checksAtMs = Number.POSITIVE_INFINITY;
  prober: Exchange | undefined;
  /** A connection has opened, or could not be opened for this reason. */
  onConnect: (failure: Error | undefined) => void = () => undefined;
  /** Whether it takes connections, and answers nothing that counts. */
  isSilent: () => boolean = () => false;
  private readonly options: UpstreamOptions<Protocol>;
  private readonly addresses: Addresses;
  private readonly connect: Connector;
  /** Reads come in crowds, for which nothing else must wait. */
  private readonly reads: ConnectionPool;
  private readonly others: ConnectionPool;
  private readonly checkTimer = setInterval(() => {
    // What has arrived is read before the end of the turn.
    if (awakeMs() >= this.checksAtMs) setImmediate(() => this.check());
  }, CHECK_INTERVAL_MS).unref();

  constructor(options: UpstreamOptions<Protocol>) {
    this.options = options;
    this.name = options.name;
    this.base = new URL(options.url);
    this.basePath = this.base.pathname.replace(/\/$/, '');
    this.protocol = options.protocol;
    this.credentialSetting = options.credential.setting;
    this.observers = options.observers;
    this.addresses = new Addresses(tcpAddress(this.base).host, options.names);
    this.connect = connectorTo(this.base, this.addresses);
    this.reads = this.newPool(true);
    this.others = this.newPool(false);
  }

  /** The current value of `Authorization` for it, if it has one. */
  get authorization(): string | undefined {
    const [credential] = this.options.credential.entries;
    return this.options.isBearer && credential ? `Bearer ${credential}` : undefined;
  }

  /** The public prefix that stands for its base URL. Throws a plain Error if it has none. */
  get prefix(): ProxiedPrefix {
    const { prefix, name } = this.options;
    if (!prefix) throw new Error(`${name} has no public prefix`);
    return prefix;
  }

  /** Whether browsers and caches may read it, and several readers may share one read. */
  get isRead(): boolean {
    return isReadProtocol(this.protocol);
  }

  /** The time in milliseconds to the response headers of a request. */
  timeoutMs(isLive: boolean): number {
    const { responseMs, liveMs } = this.options.timeouts;
    return isLive ? SILENT_SHARE * liveMs : responseMs;
  }

  probesAfterMs(isLive: boolean): number {
    const { responseMs, liveMs } = this.options.timeouts;
    if (!isLive || !isReadProtocol(this.protocol)) return PROBE_SHARE * responseMs;
    // Before that its silence says nothing.
    return Math.max(PROBE_SHARE * liveMs, this.protocol.longestSilenceMs.poll);
  }

  /** Sends a request. The handler gets its response, or an error in the form in which a client may get it. */
  exchange(request: ExchangeRequest, handler: AnswerHandler): Exchange {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const exchange = new Exchange(this, isRead ? this.reads : this.others, request, handler);
    exchange.start();
    return exchange;
  }

  /** Resolves with the reason if no connection opens within `timeoutMs`, and never rejects; see `tryConnect`. */
  tryConnect(timeoutMs: number): Promise<Error | undefined> {
    return tryConnect(this.connect, timeoutMs);
  }

  watch(exchange: Exchange): void {
    this.waiting.add(exchange);
    this.checksAtMs = Math.min(this.checksAtMs, exchange.dueAtMs);
  }

  endUnproven(sinceMs: number, silent?: string, answering?: string): void {
    if (silent !== undefined && silent !== answering) this.addresses.avoid(silent);
    this.reads.endUnproven(sinceMs);
    this.others.endUnproven(sinceMs);
  }

  faultOf(fault: unknown, { requestId, traceId }: RequestRecord): GatewayError {
    this.options.logger.error(
      { requestId, traceId, code: 'internal_error', err: fault },
      'the gateway failed to pass on an answer',
    );
    return internalError(fault);
  }

  /** Closes every connection, also busy ones. */
  close(): void {
    clearInterval(this.checkTimer);
    this.reads.close();
    this.others.close();
  }

  private check(): void {
    const nowMs = awakeMs();
    this.checksAtMs = Number.POSITIVE_INFINITY;
    const due: Exchange[] = [];
    for (const exchange of this.waiting) {
      const { dueAtMs } = exchange;
      this.checksAtMs = Math.min(this.checksAtMs, dueAtMs);
      if (dueAtMs <= nowMs) due.push(exchange);
    }
    // They change the list.
    for (const exchange of due) exchange.onDue(nowMs);
  }

  private newPool(isPatient: boolean): ConnectionPool {
    const { timeouts, keepsConnections } = this.options;
    return new ConnectionPool({
      connect: this.connect,
      timeouts: {
        connectMs: timeouts.connectMs,
        stallMs: timeouts.upstreamStallMs,
        silenceMs: SILENT_SHARE * timeouts.liveMs,
      },
      isTls: this.base.protocol === 'https:',
      keepsConnections,
      isPatient,
      onConnect: (failure) => {
        if (failure) this.addresses.connectFailed();
        this.onConnect(failure);
      },
    });
  }
}

/** An upstream whose reads may be shared and may wait for new data. */
export type ReadUpstream = Upstream<ReadProtocol>;

function isReadProtocol(protocol: UpstreamProtocol): protocol is ReadProtocol {
  return 'liveModeOf' in protocol;
}
