import { checkReadToken } from '../token/check-read-token.ts';
import {
  decodeReadToken,
  explainReadToken,
  readTokenVerdict,
} from '../token/explain-read-token.ts';
import { mintReadToken } from '../token/mint-read-token.ts';
import { TokenCommandError, tokenSettings, type TokenSettings } from '../token/token-settings.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson } from '../output/print.ts';
import { readInput } from './body.ts';
import type { ExamineOptions, MintOptions } from './token-command.ts';

export async function mint(options: MintOptions, context: CliContext): Promise<void> {
  const { prefix, ttl, subject, shape } = options;
  const request = {
    prefixes: prefix,
    ttlSeconds: ttl,
    subject,
    shape: shape === undefined ? undefined : parseShape(shape),
  };
  const token = await inPlainWords(() => mintReadToken(request, settingsOf(options, context)));
  await print(context.stdout, `${token}\n`);
}

export async function inspect(
  given: string,
  options: ExamineOptions,
  context: CliContext,
): Promise<void> {
  const token = await tokenOf(given, context);
  await inPlainWords(async () => {
    const settings = settingsOf(options, context);
    if (options.json !== true) {
      const lines = await explainReadToken(token, settings);
      return print(context.stdout, `${lines.join('\n')}\n`);
    }
    const { isAccepted, why } = await readTokenVerdict(token, settings);
    const verdict = { ...decodeReadToken(token), accepted: isAccepted, why };
    return printJson(context.stdout, verdict);
  });
}

/** A negative result has exit code 1. */
export async function check(
  given: string,
  path: string,
  options: ExamineOptions,
  context: CliContext,
): Promise<void> {
  const token = await tokenOf(given, context);
  const { isOpen, why } = await inPlainWords(() =>
    checkReadToken(token, path, settingsOf(options, context)),
  );
  if (options.json === true) await printJson(context.stdout, { open: isOpen, why });
  else await print(context.stdout, `${isOpen ? 'yes' : 'no'}: ${why}\n`);
  if (!isOpen) context.exitCode = EXIT.failed;
}

function settingsOf({ tenant }: { tenant?: string }, { env }: CliContext): TokenSettings {
  return tokenSettings(tenant === undefined ? env : { ...env, GATEWAY_TENANT: tenant });
}

async function tokenOf(given: string, context: CliContext): Promise<string> {
  const token = (given === '-' ? (await readInput('-', context)).toString('utf8') : given).trim();
  if (token !== '') context.notices.keepSecret(token);
  return token;
}

function parseShape(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError('--shape must be JSON.');
  }
}

async function inPlainWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TokenCommandError)) throw error;
    throw new CliError(error.exitCode, error.message, undefined, { cause: error });
  }
}
