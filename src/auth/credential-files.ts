import type { SecretList } from '../platform/config/secret-list.ts';

/** With the ordinary read of every second, at most ten reads a second, however many credentials are refused. */
const MIN_INTERVAL_MS = 125;

type List = Pick<SecretList<object>, 'hasFile' | 'version' | 'reread'>;

/**
 * The files of API keys and of secrets. The gateway reads them every second, and again before it refuses a credential,
 * so that a new credential works at once.
 */
export class CredentialFiles {
  private readonly lists: readonly List[];
  /** `next` has not begun: whoever asks now gets its result. */
  private next: Promise<void> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private beganAtMs = Number.NEGATIVE_INFINITY;

  constructor(lists: readonly List[]) {
    this.lists = lists.filter(({ hasFile }) => hasFile);
  }

  /** Grows with each change of a list. */
  get version(): number {
    return this.lists.reduce((sum, list) => sum + list.version, 0);
  }

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
