import type { OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { within } from '../clock/within.ts';
import type { SecretSource } from './gateway-config.ts';
import type { ListForm, ParsedList } from './secret-lists.ts';
import { readSmallFile } from './small-file.ts';

/**
 * How often a secret file is read again. Contents are compared, not the inode: a Kubernetes secret
 * mount swaps a symlink, which a watch on the file itself would miss.
 */
const REREAD_INTERVAL_MS = 1_000;
/** How long anybody waits for a file. A network file system may never answer. */
const READ_TIMEOUT_MS = 1_000;

/** `others` are the entries of the variable, which are valid in addition to those of the file. */
type Parse<Entry> = (text: string, form: ListForm, others: readonly Entry[]) => ParsedList<Entry>;

/** What a test sets. */
export interface SecretListOptions {
  intervalMs?: number;
  readTimeoutMs?: number;
  readText?: (path: string) => Promise<string>;
}

/** A list of secrets. Its file is read again while the gateway runs. */
export class SecretList<Entry> implements OnModuleDestroy {
  /** Whether the file was valid when it was last read. */
  isFileGood = true;
  /** Grows with each change of the entries. */
  version = 0;
  private text: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private all: readonly Entry[];

  private constructor(
    readonly name: string,
    private readonly source: SecretSource<Entry>,
    private readonly parse: Parse<Entry>,
    private readonly logger: Logger,
    private readonly options: Required<SecretListOptions>,
  ) {
    this.all = source.inline;
  }

  /** Reads the file now, and again every interval until the module is destroyed. `name` is for the log. */
  static async open<Entry>(
    name: string,
    source: SecretSource<Entry>,
    parse: Parse<Entry>,
    logger: Logger,
    options: SecretListOptions = {},
  ): Promise<SecretList<Entry>> {
    const list = new SecretList(name, source, parse, logger, {
      intervalMs: REREAD_INTERVAL_MS,
      readTimeoutMs: READ_TIMEOUT_MS,
      readText: readSmallFile,
      ...options,
    });
    if (source.file !== undefined) {
      await list.read(source.file);
      list.scheduleReread();
    }
    return list;
  }

  /** All entries that are valid now. Those of the variable come first. */
  get entries(): readonly Entry[] {
    return this.all;
  }

  get hasFile(): boolean {
    return this.source.file !== undefined;
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
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
    const { readTimeoutMs } = this.options;
    const isRead = await within(
      readTimeoutMs,
      reading.then(() => true),
    );
    if (!isRead) this.keepOld('unanswered', `cannot be read in ${readTimeoutMs} ms`);
  }

  private scheduleReread(): void {
    this.timer = setTimeout(() => {
      void this.reread().finally(() => {
        if (this.timer) this.scheduleReread();
      });
    }, this.options.intervalMs);
    this.timer.unref();
  }

  /** If the file is invalid, empty or missing, the list stays as it was, and one log line says so. */
  private async read(file: string): Promise<void> {
    const text = await this.options
      .readText(file)
      .catch((error: NodeJS.ErrnoException) => ({ error }));
    if (typeof text !== 'string') {
      this.keepOld(`unreadable:${text.error.code}`, `cannot be read (${text.error.code})`);
      return;
    }
    if (text === this.text) return;
    const { entries, problems } = this.parse(text, 'file', this.source.inline);
    if (problems.length > 0 || entries.length === 0) {
      this.keepOld(text, problems.join(', ') || 'holds no entry');
      return;
    }
    const isFirst = this.text === undefined;
    this.text = text;
    this.isFileGood = true;
    this.version++;
    this.all = [...this.source.inline, ...entries];
    if (!isFirst)
      this.logger.info({ setting: this.name, entries: entries.length }, 'secrets reloaded');
  }

  private keepOld(seen: string, problem: string): void {
    if (seen === this.text) return;
    this.text = seen;
    this.isFileGood = false;
    this.logger.error({ setting: this.name }, `${this.name} ${problem}; the list in use is kept`);
  }
}
