import { resolve } from 'node:path';
import type { CliContext } from '../cli-context.ts';
import { CliError, usageError } from '../cli-error.ts';
import { checkedUrl } from '../connection/connection.ts';
import { Credential } from '../connection/credential.ts';
import { allowsHttp, refusePlainHttp } from '../connection/plain-http.ts';
import type { AddProfileOptions } from '../commands/profile-command.ts';
import { inWords, probe } from '../doctor/probe.ts';
import { EXIT } from '../exit-codes.ts';
import { boldHeading, inColumns } from '../output/columns.ts';
import { plainLine } from '../output/plain-text.ts';
import { print } from '../output/print.ts';
import { askHidden } from './ask-hidden.ts';
import {
  changeProfileFile,
  profilePath,
  readProfileFile,
  type StoredProfile,
} from './profile-file.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Throws a `CliError` for a key that the gateway refuses. Nothing is written then. */
export async function addProfile(
  name: string,
  { url: given, tenant, keyFile, scopes, check, config, allowHttp = false }: AddProfileOptions,
  context: CliContext,
): Promise<void> {
  if (!NAME.test(name)) throw usageError(`"${plainLine(name)}" cannot be the name of a profile.`);
  const url = checkedUrl(given, '--url');
  // Before the key is asked for.
  if (!allowHttp && !allowsHttp(context.env)) refusePlainHttp(url);
  const credential = await Credential.read(
    keyFile === undefined
      ? { kind: 'text', text: await keyOf(url, context), from: 'what you typed' }
      : { kind: 'file', path: keyFile, from: `the file ${keyFile}` },
    context.stdin,
  );
  context.notices.keepSecret(credential.value);
  if (check) await tryKey(url, credential);
  const profile: StoredProfile = {
    url,
    ...(tenant !== undefined && { tenant }),
    ...(keyFile === undefined ? { key: credential.value } : { keyFile: resolve(keyFile) }),
    ...(scopes !== undefined && { scopes }),
    ...(allowHttp && { allowHttp }),
  };
  const path = config ?? profilePath(context.env);
  changeProfileFile(path, (file) => {
    file.profiles[name] = profile;
    file.default ??= name;
  });
  await print(context.stdout, `${name}: ${url}, in ${path}\n`);
}

export async function useProfile(
  name: string,
  config: string | undefined,
  context: CliContext,
): Promise<void> {
  changeProfileFile(config ?? profilePath(context.env), (file) => {
    if (!Object.hasOwn(file.profiles, name)) throw noProfile(name);
    file.default = name;
  });
  await print(context.stdout, `${name} is used where no other profile is named.\n`);
}

export async function listProfiles(
  config: string | undefined,
  { env, stdout, notices }: CliContext,
): Promise<void> {
  const path = config ?? profilePath(env);
  const file = readProfileFile(path);
  if (!file || file.profiles.size === 0) {
    notices.say(`There is no profile in ${path}.`);
    return;
  }
  const rows = [...file.profiles.values()].map(({ name, url, tenant, key, keyFile }) => [
    name === file.defaultName ? `${name} *` : name,
    url,
    tenant ?? '–',
    key === undefined ? (keyFile ?? 'no key') : 'in this file',
  ]);
  await print(stdout, inColumns([['NAME', 'ADDRESS', 'TENANT', 'KEY'], ...rows], boldHeading));
}

export async function removeProfile(
  name: string,
  config: string | undefined,
  context: CliContext,
): Promise<void> {
  changeProfileFile(config ?? profilePath(context.env), (file) => {
    if (!Object.hasOwn(file.profiles, name)) throw noProfile(name);
    delete file.profiles[name];
    if (file.default === name) delete file.default;
  });
  await print(context.stdout, `${name}: removed\n`);
}

async function keyOf(url: string, { stdin, notices, interrupted }: CliContext): Promise<string> {
  if (stdin.isTTY === true) return askHidden(`Key for ${url}: `, stdin, notices, interrupted);
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString('utf8');
}

/** Any response except a 401 shows that the gateway knows the key. Its scopes decide what it opens. */
async function tryKey(url: string, credential: Credential): Promise<void> {
  const health = await probe({ url, credential: undefined }, '/health');
  if (!health.answered || health.status !== 200) {
    const hint = 'Nothing was written. Without a look at the gateway: --no-check.';
    throw new CliError(EXIT.unreachable, `The gateway at ${url}: ${inWords(health)}`, hint);
  }
  const answer = await probe({ url, credential }, '/streams/t/agent-gateway-profile?offset=now');
  if (answer.answered && answer.status === 401) {
    throw new CliError(EXIT.refused, inWords(answer), 'Nothing was written.');
  }
}

function noProfile(name: string): CliError {
  return usageError(`There is no profile "${plainLine(name)}".`);
}
