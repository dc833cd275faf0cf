import type { Command } from 'commander';
import { ulid } from 'ulid';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { sendCommand, type CommandAnswer } from '../connection/command-request.ts';
import type { Connection } from '../connection/connection.ts';
import { compactJson } from '../output/json.ts';
import { plainLine } from '../output/plain-text.ts';
import { write } from '../output/write.ts';
import type { ConnectedOptions } from './options.ts';

/** What the options of `withCommandOptions` parse to. */
export interface CommandOptions extends ConnectedOptions {
  idempotencyKey?: string;
  json?: boolean;
}

/** Adds the options of every command that changes something. */
export function withCommandOptions(command: Command): Command {
  return command
    .option('--idempotency-key <key>', 'sent twice with the same key, it is handled once (made up)')
    .option('--json', 'print the whole answer as JSON');
}

export interface Issue {
  path: string;
  body: Uint8Array<ArrayBuffer> | string;
  contentType: string;
}

/** Sends a command and tries again where that is safe. Throws a `CliError`. */
export async function issueCommand(
  issue: Issue,
  options: CommandOptions,
  connection: Connection,
  context: CliContext,
): Promise<CommandAnswer> {
  const idempotencyKey = options.idempotencyKey ?? `cli-${ulid().toLowerCase()}`;
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw usageError('--idempotency-key must be 1 to 255 visible ASCII characters.');
  }
  return sendCommand(
    connection,
    { ...issue, idempotencyKey },
    {
      retryForMs: options.retryFor * 1_000,
      notices: context.notices,
      interrupted: context.interrupted,
    },
  );
}

/** The entity of an answer as `type/id`, to be used in the next command. */
export function addressOf({ url }: Pick<CommandAnswer, 'url'>): string {
  const [, , , , type = '', id = ''] = url.split('/');
  return plainLine(`${type}/${id}`);
}

/** Prints the answer as JSON, or these words. */
export async function printAnswer(
  answer: CommandAnswer,
  words: string,
  { json }: CommandOptions,
  { stdout }: CliContext,
): Promise<void> {
  await write(stdout, `${json === true ? compactJson(answer) : words}\n`);
}

/** What an answer says for people, such as `assistant/ada: accepted as inv_1x`. */
export function acceptedInWords(answer: CommandAnswer): string {
  const again = answer.replayed ? ' before, with the same idempotency key' : '';
  const invocation = plainLine(answer.restate.invocationId);
  return `${addressOf(answer)}: accepted${again} as ${invocation}`;
}
