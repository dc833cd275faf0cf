import { parseArgs } from 'node:util';
import { checkReadToken } from './check-read-token.ts';
import { explainReadToken } from './explain-read-token.ts';
import { mintReadToken, type MintRequest } from './mint-read-token.ts';
import { TokenCommandError, tokenSettings } from './token-settings.ts';

const HELP = `Mints and examines read tokens.

  npm run --silent token -- --prefix PATH --ttl SECONDS [--subject NAME] [--shape JSON]
      Prints one read token, signed with the first of GATEWAY_READ_TOKEN_SECRETS
      (or of GATEWAY_READ_TOKEN_SECRETS_FILE), for the tenant GATEWAY_TENANT.
      --prefix   what it opens, such as /streams/t/acme/ or /shapes/v1/shape; up to 16 times
      --ttl      how long it lasts, at most GATEWAY_READ_TOKEN_MAX_TTL_SECONDS
      --shape    pins what /shapes/v1/shape may be asked:
                 '{"table":"entities","where":"type = $1","params":{"1":"chat"},"columns":["url"]}'

  npm run --silent token -- --inspect TOKEN
      Says in words what a token opens, until when, and why it would be refused here.

  npm run --silent token -- --check TOKEN PATH
      Says whether a token opens a path, and why. Exit code 0 for yes, 1 for no.

All of it goes by the gateway's own settings, taken from the environment.
Exit codes: 0 done, 1 refused, 2 wrong usage.`;

const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

/** Where a command writes its lines. */
export interface CommandOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Runs the token command. The result is the exit code; everything it has to say is in `output`. */
export async function runTokenCommand(
  args: string[],
  variables: Record<string, string | undefined>,
  output: CommandOutput,
): Promise<number> {
  try {
    const command = parseCommand(args);
    if (command.kind === 'help') {
      output.out(HELP);
      return DONE;
    }
    const settings = tokenSettings(variables);
    if (command.kind === 'mint') {
      output.out(await mintReadToken(command.request, settings));
      return DONE;
    }
    if (command.kind === 'inspect') {
      output.out((await explainReadToken(command.token, settings)).join('\n'));
      return DONE;
    }
    const { isOpen, why } = await checkReadToken(command.token, command.path, settings);
    output.out(`${isOpen ? 'yes' : 'no'}: ${why}`);
    return isOpen ? DONE : REFUSED;
  } catch (error) {
    if (error instanceof UsageError) {
      output.err(`token: ${error.message}\nSee --help.`);
      return WRONG_USAGE;
    }
    if (!(error instanceof TokenCommandError)) throw error;
    output.err(`token: ${error.message}`);
    return REFUSED;
  }
}

class UsageError extends Error {}

type Command =
  | { kind: 'help' }
  | { kind: 'mint'; request: MintRequest }
  | { kind: 'inspect'; token: string }
  | { kind: 'check'; token: string; path: string };

/** Throws `UsageError`. */
function parseCommand(args: string[]): Command {
  const { values, positionals } = parseOptions(args);
  if (values.help) return { kind: 'help' };
  const { inspect, check, ...minting } = values;
  if (inspect === undefined && check === undefined) {
    return { kind: 'mint', request: mintRequest(minting, positionals) };
  }
  if (Object.keys(minting).length > 0 || (inspect !== undefined && check !== undefined)) {
    throw new UsageError('--inspect and --check each stand alone.');
  }
  if (inspect !== undefined) {
    if (positionals.length > 0) throw new UsageError('--inspect takes one token and nothing else.');
    return { kind: 'inspect', token: inspect };
  }
  const [path, ...more] = positionals;
  if (check === undefined || path === undefined || more.length > 0) {
    throw new UsageError('--check takes a token and one path.');
  }
  return { kind: 'check', token: check, path };
}

interface MintOptions {
  prefix?: string[];
  ttl?: string;
  subject?: string;
  shape?: string;
}

function mintRequest({ prefix, ttl, subject, shape }: MintOptions, rest: string[]): MintRequest {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is no option.`);
  if (prefix === undefined) throw new UsageError('--prefix is required.');
  if (ttl === undefined) throw new UsageError('--ttl is required, in seconds.');
  if (!/^\d{1,9}$/.test(ttl)) throw new UsageError('--ttl must be a whole number of seconds.');
  return { prefixes: prefix, ttlSeconds: Number(ttl), subject, shape: shape && parseJson(shape) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new TokenCommandError('The shape must be JSON.');
  }
}

function parseOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        prefix: { type: 'string', multiple: true },
        ttl: { type: 'string' },
        subject: { type: 'string' },
        shape: { type: 'string' },
        inspect: { type: 'string' },
        check: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    // Of `parseArgs` itself: an unknown option, or one without its value.
    throw new UsageError((error as Error).message);
  }
}
