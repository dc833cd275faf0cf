import { hash } from 'node:crypto';
import type { Environment } from './environment.ts';
import type { ReadFile } from './otel-variables.ts';
import { parseCredential, type ListForm, type ParsedList } from './secret-lists.ts';

type ListVariable = 'GATEWAY_API_KEYS' | 'GATEWAY_READ_TOKEN_SECRETS';

/** The variables that hold one credential for an upstream; each has a `_FILE` form. */
export type CredentialVariable =
  | 'GATEWAY_RUNTIME_INGRESS_TOKEN'
  | 'GATEWAY_RUNTIME_ADMIN_TOKEN'
  | 'GATEWAY_HISTORY_TOKEN'
  | 'GATEWAY_SYNC_SECRET';

/**
 * A list of secrets: the entries of the variable, and the file that adds to them. A credential for an upstream is a
 * list with one entry, from one of the two.
 */
export interface SecretSource<Entry> {
  /** The variable, or the one that names the file if there is one. */
  setting: string;
  inline: Entry[];
  file: SecretFile<Entry> | undefined;
}

/** A file of secrets, and what it held at the start. */
export interface SecretFile<Entry> {
  path: string;
  /** Of its text, so that withdrawn secrets are not kept. */
  digest: string;
  entries: Entry[];
  parse: (text: string) => ParsedList<Entry>;
}

/** Tells one content of a file from another. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}

/** Reads the settings of secrets and their files, and collects their problems. No problem contains a secret. */
export class SecretSources {
  private readonly env: Environment;
  private readonly readFile: ReadFile;
  private readonly problems: string[];

  constructor(env: Environment, readFile: ReadFile, problems: string[]) {
    this.env = env;
    this.readFile = readFile;
    this.problems = problems;
  }

  /** A list and its `_FILE` form. The entries of both are valid. */
  list<Entry>(
    name: ListVariable,
    parse: (text: string, form: ListForm, others?: readonly Entry[]) => ParsedList<Entry>,
  ): SecretSource<Entry> {
    const { entries, problems } = parse(this.env[name] ?? '', 'variable');
    this.refuse(name, problems);
    const parseFile = (text: string) => parse(text, 'file', entries);
    return this.source(name, entries, parseFile, 'must hold at least one entry, one a line');
  }

  /** A credential or its `_FILE` form. Both together are refused, because it would be unclear which one is sent. */
  credential(name: CredentialVariable): SecretSource<string> {
    const value = this.env[name];
    if (value !== undefined && this.env[`${name}_FILE`] !== undefined) {
      this.refuse(`${name}_FILE`, [`must not be set beside ${name}: one of the two is sent`]);
    }
    const inline = value === undefined ? [] : [value];
    // Electric's secret is a parameter of a query, the others are headers.
    const parseFile = (text: string) => parseCredential(text, name !== 'GATEWAY_SYNC_SECRET');
    return this.source(name, inline, parseFile, 'must hold the credential, on one line');
  }

  /** `none` says what is wrong with a file without an entry. */
  private source<Entry>(
    name: ListVariable | CredentialVariable,
    inline: Entry[],
    parse: (text: string) => ParsedList<Entry>,
    none: string,
  ): SecretSource<Entry> {
    const setting = `${name}_FILE` as const;
    const path = this.env[setting];
    if (path === undefined) return { setting: name, inline, file: undefined };
    try {
      const text = this.readFile(path);
      const { entries, problems } = parse(text);
      this.refuse(setting, entries.length + problems.length === 0 ? [none] : problems);
      return { setting, inline, file: { path, digest: digestOf(text), entries, parse } };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      this.refuse(setting, [`must be a readable file (${code})`]);
      return { setting, inline, file: undefined };
    }
  }

  private refuse(setting: string, problems: readonly string[]): void {
    this.problems.push(...problems.map((problem) => `${setting} ${problem}`));
  }
}
