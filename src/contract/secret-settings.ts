import {
  digestOf,
  type ParsedList,
  type SecretFile,
  type SecretSource,
} from '../platform/config/secret-source.ts';
import { namedFile, type ReadFile } from '../platform/config/small-file.ts';
import type { Environment } from './environment.ts';
import { parseCredential, type ListForm } from './secret-lists.ts';

type ListVariable = 'GATEWAY_API_KEYS' | 'GATEWAY_READ_TOKEN_SECRETS';

/** The variables that hold one credential for an upstream; each has a `_FILE` form. */
export const CREDENTIAL_VARIABLES = [
  'GATEWAY_RUNTIME_INGRESS_TOKEN',
  'GATEWAY_RUNTIME_ADMIN_TOKEN',
  'GATEWAY_HISTORY_TOKEN',
  'GATEWAY_SYNC_SECRET',
] as const;
export type CredentialVariable = (typeof CREDENTIAL_VARIABLES)[number];

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
    parse: (
      text: string,
      form: ListForm,
      others?: readonly Entry[],
      inForce?: readonly Entry[],
    ) => ParsedList<Entry>,
  ): SecretSource<Entry> {
    const { entries, problems } = parse(this.env[name] ?? '', 'variable');
    this.refuse(name, problems);
    const parseFile = (text: string, inForce?: readonly Entry[]) =>
      parse(text, 'file', entries, inForce);
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
    parse: SecretFile<Entry>['parse'],
    none: string,
  ): SecretSource<Entry> {
    const setting = `${name}_FILE` as const;
    const path = this.env[setting];
    const text = namedFile(path, this.readFile, (problem) => this.refuse(setting, [problem]));
    if (path === undefined || text === undefined) {
      return { setting: path === undefined ? name : setting, inline, file: undefined };
    }
    const { entries, problems } = parse(text);
    this.refuse(setting, entries.length + problems.length === 0 ? [none] : problems);
    return { setting, inline, file: { path, digest: digestOf(text), entries, parse } };
  }

  private refuse(setting: string, problems: readonly string[]): void {
    this.problems.push(...problems.map((problem) => `${setting} ${problem}`));
  }
}
