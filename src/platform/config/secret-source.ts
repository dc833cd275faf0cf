import type { Environment } from './environment.ts';
import type { SecretSource } from './gateway-config.ts';
import type { ReadFile } from './otel-variables.ts';
import { parseCredential, type ListForm, type ParsedList } from './secret-lists.ts';

type ListVariable = 'GATEWAY_API_KEYS' | 'GATEWAY_READ_TOKEN_SECRETS';

/** The variables that hold one credential for an upstream; each has a `_FILE` form. */
export type CredentialVariable =
  | 'GATEWAY_RUNTIME_INGRESS_TOKEN'
  | 'GATEWAY_RUNTIME_ADMIN_TOKEN'
  | 'GATEWAY_HISTORY_TOKEN'
  | 'GATEWAY_SYNC_SECRET';

/** Reads a list and its `_FILE` form. The entries of both are valid. */
export function listSource<Entry>(
  env: Environment,
  name: ListVariable,
  parse: (text: string, form: ListForm, others?: readonly Entry[]) => ParsedList<Entry>,
  readFile: ReadFile,
  problems: string[],
): { source: SecretSource<Entry>; count: number } {
  const inline = parse(env[name] ?? '', 'variable');
  problems.push(...inline.problems.map((problem) => `${name} ${problem}`));
  const file = env[`${name}_FILE`];
  const fromFile = fileEntries(`${name}_FILE`, file, readFile, problems, (text) =>
    parse(text, 'file', inline.entries),
  );
  if (fromFile?.length === 0) {
    problems.push(`${name}_FILE must hold at least one entry, one a line`);
  }
  const count = inline.entries.length + (fromFile?.length ?? 0);
  return { source: { inline: inline.entries, file }, count };
}

/**
 * Reads a credential or its `_FILE` form. Both together are refused, because it would be unclear which one is sent.
 */
export function credentialSource(
  env: Environment,
  name: CredentialVariable,
  readFile: ReadFile,
  problems: string[],
): SecretSource<string> {
  const inline = env[name];
  const file = env[`${name}_FILE`];
  if (inline !== undefined && file !== undefined) {
    problems.push(`${name}_FILE must not be set beside ${name}: one of the two is sent`);
  }
  const parse = credentialParser(name);
  const fromFile = fileEntries(`${name}_FILE`, file, readFile, problems, parse);
  if (fromFile?.length === 0) problems.push(`${name}_FILE must hold the credential, on one line`);
  return { inline: inline === undefined ? [] : [inline], file };
}

/** Parses the file of a credential. Electric's secret is a parameter of a query, the others are headers. */
export function credentialParser(name: CredentialVariable): (text: string) => ParsedList<string> {
  return (text) => parseCredential(text, name !== 'GATEWAY_SYNC_SECRET');
}

/** The entries of a file; undefined if there is no file, or if a problem with it has been reported. */
function fileEntries<Entry>(
  name: string,
  file: string | undefined,
  readFile: ReadFile,
  problems: string[],
  parse: (text: string) => ParsedList<Entry>,
): Entry[] | undefined {
  if (file === undefined) return undefined;
  try {
    const parsed = parse(readFile(file));
    problems.push(...parsed.problems.map((problem) => `${name} ${problem}`));
    return parsed.problems.length > 0 ? undefined : parsed.entries;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push(`${name} must be a readable file (${code})`);
    return undefined;
  }
}
