import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { usageError } from '../cli-error.ts';
import { openFileWarning } from '../profiles/profile-file.ts';

/** The source of an API key or a read token. `from` describes it in words and never contains the key. */
export type CredentialSource = { from: string } & (
  { kind: 'text'; text: string } | { kind: 'file'; path: string } | { kind: 'stdin' }
);

/** An API key or a read token: the text after `Bearer`. */
export class Credential {
  readonly from: string;
  /** A warning for the user, for example that others can read the file. */
  readonly warning: string | undefined;
  readonly #source: CredentialSource;
  #value: string;

  private constructor(source: CredentialSource, value: string) {
    this.from = source.from;
    this.warning = source.kind === 'file' ? openFileWarning(source.path) : undefined;
    this.#source = source;
    this.#value = value;
  }

  /** Throws a usage error that never contains what was read. */
  static async read(source: CredentialSource, stdin: Readable): Promise<Credential> {
    return new Credential(source, checked(await textOf(source, stdin), source.from));
  }

  /** Whether it may have changed at the next reading. */
  get isFile(): boolean {
    return this.#source.kind === 'file';
  }

  get value(): string {
    return this.#value;
  }

  /**
   * Reads a file again, as a read token may have been renewed there.
   * @returns whether it holds another credential now.
   */
  reread(): boolean {
    if (this.#source.kind !== 'file') return false;
    const before = this.#value;
    try {
      this.#value = checked(readFileSync(this.#source.path, 'utf8'), this.from);
    } catch {
      // The file is being replaced or is missing: the last credential stays in use.
      return false;
    }
    return this.#value !== before;
  }
}

async function textOf(source: CredentialSource, stdin: Readable): Promise<string> {
  if (source.kind === 'text') return source.text;
  if (source.kind === 'stdin') {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
    return Buffer.concat(chunks).toString('utf8');
  }
  try {
    return readFileSync(source.path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`The key file ${source.path} cannot be read (${code}).`);
  }
}

/** The first line that is not empty, if it is a valid credential. */
function checked(text: string, from: string): string {
  const value = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (value === undefined) throw usageError(`There is no key in ${from}.`);
  if (value.startsWith('sha256:')) {
    throw usageError(`${from} holds the hash of a key; the key itself is needed.`);
  }
  // Other characters cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw usageError(`The key from ${from} holds spaces or characters that no key has.`);
  }
  return value;
}
