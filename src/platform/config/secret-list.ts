import type { Logger } from 'pino';
import { withinAwake } from '../clock/within.ts';
import { digestOf, type SecretFile, type SecretSource } from './secret-source.ts';
import { readSmallFile } from './small-file.ts';

/** How long anybody waits for a file, of the time in which this process runs. A network file system may never answer. */
const READ_TIMEOUT_MS = 1_000;

/** A list of secrets. `SecretFiles` has its file read again while the gateway runs. */
export class SecretList<Entry> {
  /** All entries that are valid now. Those of the variable come first. */
  entries: readonly Entry[];
  /** Whether the file was valid when it was last read. */
  isFileGood = true;
  /** Grows with each change of the entries. */
  version = 0;
  /** What was seen when the file was last read: the digest of its text, or why there was none. */
  private seen: string | undefined;
  /** The digest of the text whose entries are in use. */
  private inUse: string | undefined;
  private reading: Promise<void> | undefined;
  private readonly source: SecretSource<Entry>;
  private readonly logger: Pick<Logger, 'error' | 'info'>;
  private readonly readText: (path: string) => Promise<string>;
  private readonly readTimeoutMs: number;

  /** A test sets how the file is read, and for how long anybody waits for it. */
  constructor(
    source: SecretSource<Entry>,
    logger: Pick<Logger, 'error' | 'info'>,
    readText = readSmallFile,
    readTimeoutMs = READ_TIMEOUT_MS,
  ) {
    this.source = source;
    this.logger = logger;
    this.readText = readText;
    this.readTimeoutMs = readTimeoutMs;
    this.seen = this.inUse = source.file?.digest;
    this.entries = [...source.inline, ...(source.file?.entries ?? [])];
  }

  /** The setting that it comes from. */
  get name(): string {
    return this.source.setting;
  }

  get hasFile(): boolean {
    return this.source.file !== undefined;
  }

  /**
   * Reads the file again, and resolves when `entries` are those of a read that began after this call. Never fails. A file
   * that cannot be read in time leaves the list as it is.
   */
  async reread(): Promise<void> {
    const { file } = this.source;
    if (file === undefined) return;
    // One read at a time: of two, the older content could arrive last, and each holds a thread of the pool.
    if (this.reading) await this.inTime(this.reading);
    this.reading ??= this.read(file).finally(() => (this.reading = undefined));
    await this.inTime(this.reading);
  }

  private async inTime(reading: Promise<void>): Promise<void> {
    const { readTimeoutMs } = this;
    const isRead = await withinAwake(
      readTimeoutMs,
      reading.then(() => true),
    );
    if (!isRead) this.keepOld('unanswered', `cannot be read in ${readTimeoutMs} ms`);
  }

  /** If the file is invalid, empty or missing, the list stays as it was, and one log line says so. */
  private async read({ path, parse }: SecretFile<Entry>): Promise<void> {
    const text = await this.readText(path).catch((error: NodeJS.ErrnoException) => ({ error }));
    if (typeof text !== 'string') {
      this.keepOld(`unreadable:${text.error.code}`, `cannot be read (${text.error.code})`);
      return;
    }
    const digest = digestOf(text);
    if (digest === this.seen) return;
    // A file that is back as it was changes nothing for those who go by the version.
    if (digest !== this.inUse) {
      const { entries, problems } = parse(text, this.entries);
      if (problems.length > 0 || entries.length === 0) {
        this.keepOld(digest, problems.join(', ') || 'holds no entry');
        return;
      }
      this.inUse = digest;
      this.version++;
      this.entries = [...this.source.inline, ...entries];
    }
    this.seen = digest;
    this.isFileGood = true;
    const entries = this.entries.length - this.source.inline.length;
    this.logger.info({ setting: this.name, entries }, 'secrets reloaded');
  }

  private keepOld(seen: string, problem: string): void {
    if (seen === this.seen) return;
    this.seen = seen;
    this.isFileGood = false;
    this.logger.error({ setting: this.name }, `${this.name} ${problem}; the list in use is kept`);
  }
}
