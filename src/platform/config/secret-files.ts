import type { OnModuleDestroy } from '@nestjs/common';
import type { StateMetric } from '../metrics/state-metric.ts';
import type { SecretList } from './secret-list.ts';

/**
 * How often the files are read again. Contents are compared, not the inode: a Kubernetes secret
 * mount swaps a symlink, which a watch on the file itself would miss.
 */
const REREAD_INTERVAL_MS = 1_000;
/** At most eight reads a second, however many credentials are refused. */
const MIN_INTERVAL_MS = 125;

type List = Pick<SecretList<unknown>, 'hasFile' | 'isFileGood' | 'name' | 'reread' | 'version'>;

/**
 * The lists of secrets that have a file. The gateway reads the files every second, and again before it refuses a credential, so
 * that a new credential works at once.
 */
export class SecretFiles implements OnModuleDestroy {
  private readonly lists: List[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** `next` has not begun: whoever asks now gets its result. */
  private next: Promise<void> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private beganAtMs = Number.NEGATIVE_INFINITY;

  /** Adds a list, if it has a file, and returns it. */
  add<Added extends List>(list: Added): Added {
    if (!list.hasFile) return list;
    this.lists.push(list);
    this.timer ??= setInterval(() => void this.readAgain(), REREAD_INTERVAL_MS).unref();
    return list;
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Grows with each change of a list. */
  get version(): number {
    return this.lists.reduce((sum, list) => sum + list.version, 0);
  }

  /** By its setting, whether each file was good when it was last read. */
  get areGood(): Record<string, boolean> {
    return Object.fromEntries(this.lists.map(({ name, isFileGood }) => [name, isFileGood]));
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_secret_file_good',
      help: 'Whether a file of keys or secrets was good when it was last read; 0: the list from before is in use.',
      label: 'setting',
      read: () =>
        Object.fromEntries(
          this.lists.map(({ name, isFileGood }) => [name, Number(isFileGood)] as const),
        ),
    },
  ];

  /** Resolves after a read of the files that began after this call. Never fails. */
  readAgain(): Promise<void> {
    if (this.lists.length === 0) return Promise.resolve();
    this.next ??= this.turn().then(() => this.readNow());
    return this.next;
  }

  private async turn(): Promise<void> {
    await this.last;
    const waitMs = this.beganAtMs + MIN_INTERVAL_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
  }

  private async readNow(): Promise<void> {
    this.next = undefined;
    this.beganAtMs = performance.now();
    this.last = Promise.all(this.lists.map((list) => list.reread()));
    await this.last;
  }
}
