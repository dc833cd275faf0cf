import { createHash, randomBytes } from 'node:crypto';
import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { keyProblem, parseApiKeys, SCOPES, smallText, UnusableFile } from '../gateway-rules.ts';
import { print, printJson } from '../output/print.ts';
import { readInput } from './body.ts';
import { examples } from '../help-text.ts';

/** 256 bits cannot be guessed, and suffice for a secret that signs read tokens. */
const KEY_BYTES = 32;

export function keysCommand(context: CliContext): Command {
  return new Command('keys')
    .summary('make API keys and their hashes')
    .description('Makes API keys, and their hashes for the settings of a gateway.')
    .addCommand(generateCommand(context))
    .addCommand(explainCommand(context))
    .addCommand(hashCommand(context));
}

function generateCommand(context: CliContext): Command {
  return new Command('generate')
    .summary('make a new key')
    .description(
      'Prints a new random key, and its entry on stderr. Give the key to the caller. Give the entry to the gateway, in ' +
        'GATEWAY_API_KEYS or as a line of GATEWAY_API_KEYS_FILE. You can also use such a key in ' +
        'GATEWAY_READ_TOKEN_SECRETS.',
    )
    .option(
      '--name <name>',
      'the name of the key in logs and metrics; required in a list in which any key has one',
    )
    .option(
      '--scopes <scopes>',
      `what it opens, joined by +; without, everything: ${SCOPES.join(' ')}`,
    )
    .option(
      '--paths <paths>',
      'paths that narrow the stream scopes, joined by +, each with /streams',
    )
    .option('--json', 'print key, hash and entry as JSON')
    .addHelpText(
      'after',
      examples(
        'agent-gateway keys generate --name agents --scopes streams:read+streams:write',
        'umask 077; agent-gateway keys generate > ~/.config/agent-gateway/key',
      ),
    )
    .action(async ({ json, ...attributes }: GenerateOptions) => {
      const key = `agk_${randomBytes(KEY_BYTES).toString('base64url')}`;
      const hash = hashOf(key);
      const given = Object.entries(attributes).map(([name, value]) => `${name}=${value}`);
      const entry = [hash, ...given].join(' ');
      const { problems } = parseApiKeys(entry, 'file');
      if (problems.length > 0) throw usageError(`The key ${withoutPlace(problems).join('; it ')}.`);
      if (json === true) await printJson(context.stdout, { key, hash, entry });
      else await print(context.stdout, `${key}\n`);
      if (json !== true) context.notices.say(`Its entry, for the gateway: ${entry}`);
    });
}

interface GenerateOptions {
  name?: string;
  scopes?: string;
  paths?: string;
  json?: boolean;
}

function explainCommand(context: CliContext): Command {
  return new Command('explain')
    .summary('say what keys open')
    .description(
      'Reads the entries of GATEWAY_API_KEYS_FILE from a file or from standard input. Prints the name of each key and ' +
        'what it opens, never the key itself. Names each wrong entry by its line.',
    )
    .argument('[file]', 'the file with the entries; - for standard input', '-')
    .option('--json', 'print a JSON array')
    .addHelpText('after', examples('agent-gateway keys explain api-keys'))
    .action(async (file: string, { json }: { json?: boolean }) => {
      const { entries, problems } = parseApiKeys(listText(await readInput(file, context)), 'file');
      if (problems.length > 0)
        throw usageError(`The entries are not good: ${problems.join('; ')}.`);
      const keys = entries.map(({ name, scopes, paths }) => ({
        name,
        scopes: [...scopes],
        paths: paths?.map((segments) => `/${segments.map(encodeURIComponent).join('/')}`),
      }));
      const inWords = keys.map(
        ({ name, scopes, paths }) =>
          `${name}: ${scopes.length === SCOPES.length ? 'everything' : scopes.join(', ')}` +
          (paths ? `; of streams only ${paths.join(', ')}` : ''),
      );
      if (json === true) await printJson(context.stdout, keys);
      else await print(context.stdout, `${inWords.join('\n')}\n`);
    });
}

/** Throws a usage error for bytes that the gateway would refuse as a file. */
function listText(bytes: Buffer): string {
  try {
    return smallText(bytes);
  } catch (error) {
    if (error instanceof UnusableFile) throw usageError(`The list is ${error.code}.`);
    throw error;
  }
}

/** For an entry without a position in a list. */
function withoutPlace(problems: readonly string[]): string[] {
  return problems.map((problem) => problem.replace(/^line \d+ /, ''));
}

function hashCommand(context: CliContext): Command {
  return new Command('hash')
    .summary('hash a key')
    .description(
      'Reads a key from standard input or from a file. Prints its hash for GATEWAY_API_KEYS: sha256:<64 hex digits>. ' +
        'A key has 16 to 256 letters, digits and . _ ~ + / = -.',
    )
    .argument('[file]', 'the file with the key; - for standard input', '-')
    .addHelpText(
      'after',
      examples(
        'agent-gateway keys hash key-file',
        'agent-gateway keys generate 2>/dev/null | tee key-file | agent-gateway keys hash',
      ),
    )
    .action(async (file: string) => {
      const key = (await readInput(file, context)).toString('utf8').trim();
      // The gateway's own rule for a key, so that an invalid key gets no hash.
      const problem = keyProblem(key);
      if (problem !== undefined) throw usageError(`This is no key: it ${problem}.`);
      await print(context.stdout, `${hashOf(key)}\n`);
    });
}

function hashOf(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
