import type { Logger } from 'pino';
import { SecretList } from '../platform/config/secret-list.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';
import { parseJwkSet, type TokenKey } from './jwk-set.ts';
import type { JwkSetSource } from './jwk-set-source.ts';

/** How long anybody waits for the set. It is more than the source takes to give up a URL. */
const READ_TIMEOUT_MS = 4_000;

/**
 * The JWK set of read tokens: a list like those of the secret files. The gateway reads it periodically, whatever tokens come,
 * so that withdrawn keys are soon refused. If the set cannot be read, the last known keys stay in use.
 */
export class TokenKeySet {
  private readonly list: SecretList<TokenKey>;
  private readonly refreshMs: number;
  private readAtMs = performance.now();
  private reading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor({ read, refreshMs }: JwkSetSource, logger: Pick<Logger, 'error' | 'info'>) {
    this.refreshMs = refreshMs;
    const file = { path: '', digest: '', entries: [], parse: parseJwkSet };
    const source = { setting: 'GATEWAY_READ_TOKEN_JWKS', inline: [], file };
    this.list = new SecretList<TokenKey>(source, logger, read, READ_TIMEOUT_MS);
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

  get keys(): readonly TokenKey[] {
    return this.list.entries;
  }

  /** Grows with each change of the keys. */
  get version(): number {
    return this.list.version;
  }

  /** Whether the keys are those of the last read. */
  get isGood(): boolean {
    return this.list.isFileGood && this.keys.length > 0;
  }

  /** Reads the set, and then periodically until it is stopped. */
  start(): void {
    this.read();
    this.timer = setInterval(() => this.read(), this.refreshMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The read that is under way, for a token of an unknown key. None waits for a set that could not be read the last time. */
  get nextRead(): Promise<void> | undefined {
    return this.list.isFileGood ? this.reading : undefined;
  }

  /** No other read begins while one takes longer than the time between two. */
  private read(): void {
    this.reading ??= this.list.reread().then(() => {
      if (this.isGood) this.readAtMs = performance.now();
      this.reading = undefined;
    });
  }
}
