import { createHash, randomBytes } from 'node:crypto';
import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { parseApiKeys } from '../../config/secret-lists.ts';
import { compactJson } from '../output/json.ts';
import { write } from '../output/write.ts';
import { readInput } from './body.ts';
import { examples } from './options.ts';

/** 256 bits: more than anyone can guess, and enough for a secret that signs read tokens. */
const KEY_BYTES = 32;

export function keysCommand(context: CliContext): Command {
  return new Command('keys')
    .summary('make API keys and their hashes')
    .description('Makes API keys and the hashes that a gateway can be given in their place.')
    .addCommand(generateCommand(context))
    .addCommand(hashCommand(context));
}

function generateCommand(context: CliContext): Command {
  return new Command('generate')
    .summary('make a new key')
    .description(
      'Prints a new random key, and on stderr its hash. Give the gateway the hash, in GATEWAY_API_KEYS\n' +
        'or the file of GATEWAY_API_KEYS_FILE, and the key to the one who calls. Such a key will also\n' +
        'do as a secret of GATEWAY_READ_TOKEN_SECRETS.',
    )
    .option('--json', 'print key and hash as JSON')
    .addHelpText(
      'after',
      examples(
        'agent-gateway keys generate',
        'umask 077; agent-gateway keys generate > ~/.config/agent-gateway/key',
      ),
    )
    .action(async ({ json }: { json?: boolean }) => {
      const key = `agk_${randomBytes(KEY_BYTES).toString('base64url')}`;
      const hash = hashOf(key);
      await write(context.stdout, `${json === true ? compactJson({ key, hash }) : key}\n`);
      if (json !== true) context.notices.say(`Its hash, for the gateway: ${hash}`);
    });
}

function hashCommand(context: CliContext): Command {
  return new Command('hash')
    .summary('hash a key')
    .description(
      'Reads a key from standard input, or from a file, and prints what a gateway can be given in its\n' +
        'place in GATEWAY_API_KEYS: sha256:<64 hex digits>. A key has at least 16 characters.',
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
      // The gateway's own rules for a key, so that it takes the hash of none that it would not take.
      const { entries, problems } = parseApiKeys(key, 'file');
      if (entries.length !== 1 || problems.length > 0 || key.startsWith('sha256:')) {
        throw usageError(
          `This is no key: it ${problems[0]?.replace(/^line \d+ /, '') ?? 'must be one line'}.`,
        );
      }
      await write(context.stdout, `${hashOf(key)}\n`);
    });
}

function hashOf(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
