import type { OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import type { StateMetric } from '../metrics/state-metric.ts';
import type { SecretList } from './secret-list.ts';

/**
 * How often the files are read again. Contents are compared, not the inode: a Kubernetes secret
 * mount swaps a symlink, which a watch on the file itself would miss.
 */
const REREAD_INTERVAL_MS = 1_000;
/** At most eight reads a second, however many credentials are refused. */
const MIN_INTERVAL_MS = 125;

type List = Pick<SecretList<unknown>, 'hasFile' | 'isFileGood' | 'setting' | 'reread' | 'version'>;

/**
 * The lists of secrets that have a file. The gateway reads the files every second. Those of callers it reads again before it refuses a
 * credential, so that a new one works at once.
 */
export class SecretFiles implements OnModuleDestroy {
  readonly lists: List[] = [];
  /** Those of callers. A refusal waits for them, and for no other: a file of an upstream may be on a disk that hangs. */
  private readonly ofCallers: List[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** `next` has not begun: whoever asks now gets its result. */
  private next: Promise<void> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private beganAtMs = Number.NEGATIVE_INFINITY;
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Adds a list, if it has a file, and returns it. */
  add<Added extends List>(list: Added, { isOfCallers = false } = {}): Added {
    if (!list.hasFile) return list;
    this.lists.push(list);
    if (isOfCallers) this.ofCallers.push(list);
    this.timer ??= setInterval(() => this.readAll(), REREAD_INTERVAL_MS).unref();
    return list;
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Grows with each change of a list of callers. */
  get version(): number {
    return this.ofCallers.reduce((sum, list) => sum + list.version, 0);
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_secret_file_good',
      help: 'Whether a file of keys or secrets was good when it was last read; 0: the list from before is in use.',
      label: 'setting',
      read: () =>
        Object.fromEntries(
          this.lists.map(({ setting, isFileGood }) => [setting, Number(isFileGood)] as const),
        ),
    },
  ];

  /** Resolves after a read of the files of callers that began after this call. Never fails. */
  readAgain(): Promise<void> {
    if (this.ofCallers.length === 0) return Promise.resolve();
    return (this.next ??= this.readNext());
  }

  private readAll(): void {
    void this.readAgain();
    for (const list of this.lists)
      if (!this.ofCallers.includes(list)) void list.reread(this.logger);
  }

  private async readNext(): Promise<void> {
    await this.last;
    const waitMs = this.beganAtMs + MIN_INTERVAL_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
    this.next = undefined;
    this.beganAtMs = performance.now();
    this.last = Promise.all(this.ofCallers.map((list) => list.reread(this.logger)));
    await this.last;
  }
}
