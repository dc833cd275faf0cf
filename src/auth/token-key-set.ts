import type { Logger } from 'pino';
import { SecretList } from '../platform/config/secret-list.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';
import { parseJwkSet, type TokenKey } from './jwk-set.ts';

/** How long anybody waits for the set. It is more than the source takes to give up a URL. */
const READ_TIMEOUT_MS = 4_000;
/**
 * How long after the beginning of a read the next one begins. A withdrawn key ends the reads that it opened within 5 s, if the
 * server answers within a second.
 */
const REFRESH_MS = 2_000;

/**
 * The JWK set of read tokens: a list like those of the secret files. The gateway reads it periodically, whatever tokens come,
 * so that withdrawn keys are soon refused. If the set cannot be read, the last known keys stay in use.
 */
export class TokenKeySet extends SecretList<TokenKey> {
  private readonly logger: Pick<Logger, 'error' | 'info'>;
  private readAtMs = performance.now();
  private refreshing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(readText: () => Promise<string>, logger: Pick<Logger, 'error' | 'info'>) {
    super('GATEWAY_READ_TOKEN_JWKS', [], {
      readText,
      parse: parseJwkSet,
      timeoutMs: READ_TIMEOUT_MS,
    });
    this.logger = logger;
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_token_keys_available',
      help: '1 where the key set of read tokens was had when it was last asked for.',
      read: () => Number(this.isGood),
    },
    {
      name: 'gateway_token_keys_age_seconds',
      help: 'Time since the key set of read tokens was last had, or since the start where it never was.',
      read: () => (performance.now() - this.readAtMs) / 1_000,
    },
  ];

  /** Whether the keys are those of the last read. */
  get isGood(): boolean {
    return this.isFileGood && this.entries.length > 0;
  }

  /** Reads the set, and then periodically until it is stopped. */
  start(): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), REFRESH_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The read that is under way, for a token of an unknown key. None waits for a set that could not be read the last time. */
  get nextRead(): Promise<void> | undefined {
    return this.isFileGood ? this.refreshing : undefined;
  }

  private refresh(): void {
    this.refreshing ??= this.reread(this.logger).then(() => {
      if (this.isGood) this.readAtMs = performance.now();
      this.refreshing = undefined;
    });
  }
}
