import { SecretList, type ParsedList, type SecretFile } from '../platform/config/secret-list.ts';
import { namedFile, readSmallFile, type ReadFile } from '../platform/config/small-file.ts';
import type { Environment } from './environment.ts';
import {
  parseApiKeys,
  parseCredential,
  parseReadTokenSecrets,
  type ListForm,
} from './secret-lists.ts';

type ListVariable = 'GATEWAY_API_KEYS' | 'GATEWAY_READ_TOKEN_SECRETS';

/** The variables that hold one credential for an upstream; each has a `_FILE` form. */
export const CREDENTIAL_VARIABLES = [
  'GATEWAY_RUNTIME_INGRESS_TOKEN',
  'GATEWAY_RUNTIME_ADMIN_TOKEN',
  'GATEWAY_HISTORY_TOKEN',
  'GATEWAY_SYNC_SECRET',
] as const;
type CredentialVariable = (typeof CREDENTIAL_VARIABLES)[number];

export type SecretSettings = ReturnType<typeof secretSettings>;

/** The secrets of the settings and their files. Adds to the problems; none contains a secret. */
export function secretSettings(env: Environment, readFile: ReadFile, problems: string[]) {
  const refuse = (setting: string, wrong: readonly string[]): void => {
    problems.push(...wrong.map((problem) => `${setting} ${problem}`));
  };

  const withFile = <Entry>(
    name: ListVariable | CredentialVariable,
    inline: Entry[],
    parse: SecretFile<Entry>['parse'],
  ): SecretList<Entry> => {
    const setting = `${name}_FILE` as const;
    const path = env[setting];
    if (path === undefined) return new SecretList(name, inline);
    const list = new SecretList(setting, inline, { readText: () => readSmallFile(path), parse });
    const text = namedFile(path, readFile, (problem) => refuse(setting, [problem]));
    if (text !== undefined) refuse(setting, list.load(text));
    return list;
  };

  /** A list and its `_FILE` form. The entries of both are valid. */
  const listOf = <Entry>(
    name: ListVariable,
    parse: (
      text: string,
      form: ListForm,
      others?: readonly Entry[],
      inForce?: readonly Entry[],
    ) => ParsedList<Entry>,
  ): SecretList<Entry> => {
    const { entries, problems: wrong } = parse(env[name] ?? '', 'variable');
    refuse(name, wrong);
    return withFile(name, entries, (text, inForce) => parse(text, 'file', entries, inForce));
  };

  /** A credential or its `_FILE` form. Both together are refused, because it would be unclear which one is sent. */
  const credentialOf = (name: CredentialVariable): SecretList<string> => {
    const value = env[name];
    if (value !== undefined && env[`${name}_FILE`] !== undefined) {
      refuse(`${name}_FILE`, [`must not be set beside ${name}: one of the two is sent`]);
    }
    // Electric's secret is a parameter of a query, the others are headers.
    const isBearer = name !== 'GATEWAY_SYNC_SECRET';
    const inline = value === undefined ? [] : [value];
    return withFile(name, inline, (text) => parseCredential(text, isBearer));
  };

  return {
    apiKeys: listOf('GATEWAY_API_KEYS', parseApiKeys),
    readTokenSecrets: listOf('GATEWAY_READ_TOKEN_SECRETS', parseReadTokenSecrets),
    ingressToken: credentialOf('GATEWAY_RUNTIME_INGRESS_TOKEN'),
    adminToken: credentialOf('GATEWAY_RUNTIME_ADMIN_TOKEN'),
    historyToken: credentialOf('GATEWAY_HISTORY_TOKEN'),
    syncSecret: credentialOf('GATEWAY_SYNC_SECRET'),
  };
}
