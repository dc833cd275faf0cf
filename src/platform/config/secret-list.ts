import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { withinAwake } from '../clock/within.ts';

/** How long anybody waits for a file, of the time in which this process runs. A network file system may never answer. */
const READ_TIMEOUT_MS = 1_000;

/** The entries of a list, and the problems with it. A problem never repeats a secret. */
export interface ParsedList<Entry> {
  entries: Entry[];
  problems: string[];
}

/** A file of secrets. */
export interface SecretFile<Entry> {
  readText: () => Promise<string>;
  /** `inForce` are the entries in use when the file is read again. A file without an entry has a problem. */
  parse: (text: string, inForce?: readonly Entry[]) => ParsedList<Entry>;
  /** How long anybody waits for it. */
  timeoutMs?: number;
}

/** A list of secrets: the entries of a variable, and those of a file. `SecretFiles` has the file read again while the gateway runs. */
export class SecretList<Entry> {
  /** The variable, or the one that names the file if there is one. */
  readonly setting: string;
  /** All entries that are valid now. Those of the variable come first. */
  entries: readonly Entry[];
  /** Whether the file was valid when it was last read. */
  isFileGood = true;
  /** Grows with each change of the entries while the gateway runs. */
  version = 0;
  /** What was seen when the file was last read: the digest of its text, or why there was none. */
  private seen: string | undefined;
  /** The digest of the text whose entries are in use. Withdrawn secrets are not kept. */
  private inUse: string | undefined;
  private reading: Promise<void> | undefined;
  private readonly inline: readonly Entry[];
  private readonly file: SecretFile<Entry> | undefined;

  constructor(setting: string, inline: readonly Entry[], file?: SecretFile<Entry>) {
    this.setting = setting;
    this.inline = inline;
    this.file = file;
    this.entries = inline;
  }

  get hasFile(): boolean {
    return this.file !== undefined;
  }

  /** Takes the text that the file has at the start. Returns what is wrong with it. */
  load(text: string): string[] {
    this.seen = digestOf(text);
    return this.file ? this.take(this.file.parse(text), this.seen) : [];
  }

  /**
   * Reads the file again. Never fails. A file that cannot be read in time leaves the list as it is. There is one read at a time:
   * of two, the older content could arrive last, and each holds a thread of the pool.
   */
  async reread(logger: Pick<Logger, 'error' | 'info'>): Promise<void> {
    const { file } = this;
    if (file === undefined) return;
    const { timeoutMs = READ_TIMEOUT_MS } = file;
    this.reading ??= this.read(file, logger).finally(() => (this.reading = undefined));
    const isRead = await withinAwake(
      timeoutMs,
      this.reading.then(() => true),
    );
    if (!isRead) this.keepOld('unanswered', `cannot be read in ${timeoutMs} ms`, logger);
  }

  /** If the file is invalid, empty or missing, the list stays as it was, and one log line says so. */
  private async read(
    { readText, parse }: SecretFile<Entry>,
    logger: Pick<Logger, 'error' | 'info'>,
  ): Promise<void> {
    const text = await readText().catch((error: NodeJS.ErrnoException) => ({ error }));
    if (typeof text !== 'string') {
      this.keepOld(`unreadable:${text.error.code}`, `cannot be read (${text.error.code})`, logger);
      return;
    }
    const digest = digestOf(text);
    if (digest === this.seen) return;
    // A file that is back as it was changes nothing for those who go by the version.
    if (digest !== this.inUse) {
      const problems = this.take(parse(text, this.entries), digest);
      if (problems.length > 0) {
        this.keepOld(digest, problems.join(', '), logger);
        return;
      }
      this.version++;
    }
    this.seen = digest;
    this.isFileGood = true;
    const entries = this.entries.length - this.inline.length;
    logger.info({ setting: this.setting, entries }, 'secrets reloaded');
  }

  private take({ entries, problems }: ParsedList<Entry>, digest: string): string[] {
    if (problems.length === 0) {
      this.inUse = digest;
      this.entries = [...this.inline, ...entries];
    }
    return problems;
  }

  private keepOld(seen: string, problem: string, logger: Pick<Logger, 'error'>): void {
    if (seen === this.seen) return;
    this.seen = seen;
    this.isFileGood = false;
    logger.error({ setting: this.setting }, `${this.setting} ${problem}; the list in use is kept`);
  }
}

/** Tells one content of a file from another. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}
