import type { Command } from 'commander';
import { ulid } from 'ulid';
import type {
  AcceptedCommand,
  AgentGateway,
  CommandOptions as LibraryOptions,
} from '../../../client/src/index.ts';
import { APIError } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { failureInWords, failureOf, isUntrusted } from '../connection/failure.ts';
import { mayHaveArrived } from '../connection/network-error.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { registeredServices, typesHint } from '../connection/registered-types.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from '../gateway-rules.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import type { ConnectedOptions } from './options.ts';

/** The parsed options of `withCommandOptions`. */
export interface CommandOptions extends ConnectedOptions {
  idempotencyKey?: string;
  json?: boolean;
}

/** The parsed option of `withCreate`. */
export interface CreateOption {
  create?: boolean;
}

/** Adds the option of the commands to one entity. */
export function withCreate(command: Command): Command {
  return command.option('--create', 'send it also to an entity that does not exist yet');
}

/** Adds the options of every command that changes something. */
export function withCommandOptions(command: Command): Command {
  return command
    .option('--idempotency-key <key>', 'commands with the same key run once (default: a new key)')
    .option('--json', 'print the whole response as JSON');
}

/**
 * Sends a command with the library, again with the same idempotency key until it is accepted, finally refused, or
 * the time of `--retry-for` has passed. Throws a `CliError`.
 */
export async function issueCommand(
  send: (gateway: AgentGateway, options: LibraryOptions) => Promise<AcceptedCommand>,
  { idempotencyKey = `cli-${ulid().toLowerCase()}`, retryFor }: CommandOptions,
  connection: Connection,
  { notices, interrupted }: CliContext,
): Promise<AcceptedCommand> {
  if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw usageError(`--idempotency-key ${IDEMPOTENCY_KEY_RULE}.`);
  }
  let mayBeHandled = false;
  let hasTriedAgain = false;
  const onRetry = (error: APIError): boolean => {
    mayBeHandled ||= mayHaveHadItsEffect(error);
    if (isUntrusted(error)) return false;
    if (error.status === 401) return connection.credential?.reread() === true;
    if (!hasTriedAgain) {
      const reason = failureInWords(error, connection).replace(/\.$/, '');
      notices.say(`${reason}; trying again for up to ${Math.round(retryFor)} s.`);
    }
    hasTriedAgain = true;
    return true;
  };
  try {
    const requestId = ulid();
    const options = {
      idempotencyKey,
      requestId,
      signal: interrupted,
      retryForMs: retryFor * 1_000,
      onRetry,
    };
    return await send(openGateway(connection), options);
  } catch (error) {
    interrupted.throwIfAborted();
    if (!(error instanceof APIError)) throw error;
    mayBeHandled ||= mayHaveHadItsEffect(error);
    if (error.code === 'entity_type_not_registered') {
      const services = await registeredServices(openGateway(connection), interrupted);
      throw failureOf(error, connection, services && typesHint(services));
    }
    const isOver = error.status === undefined || error.status === 429 || error.status >= 500;
    const hint = isOver && !isUntrusted(error) && error.code !== 'invalid_response';
    throw failureOf(
      error,
      connection,
      hint ? hintWhenOver(connection, idempotencyKey, mayBeHandled) : undefined,
    );
  }
}

/** Whether a failed attempt can have reached the runtime. */
function mayHaveHadItsEffect({ status, cause, isUndone }: APIError): boolean {
  return status === undefined ? mayHaveArrived(cause) : !isUndone;
}

function hintWhenOver({ url }: Connection, idempotencyKey: string, mayBeHandled: boolean): string {
  return mayBeHandled
    ? 'It may have been accepted all the same. The same command with ' +
        `--idempotency-key ${shellWord(idempotencyKey)} is handled once at most.`
    : `Nothing was accepted. Is ${url} the right address? Try agent-gateway doctor.`;
}

/** The entity of a response as `type/id`, for the next command. */
export function addressOf({ url }: Pick<AcceptedCommand, 'url'>): string {
  const [, , , , type = '', id = ''] = url.split('/');
  return plainLine(`${type}/${id}`);
}

/** Prints the response as JSON, or the given text. */
export async function printAnswer(
  answer: AcceptedCommand,
  words: string,
  { json }: CommandOptions,
  { stdout }: CliContext,
): Promise<void> {
  if (json === true) await printJson(stdout, asDocumented(answer));
  else await print(stdout, `${words}\n`);
}

/** The fields by their names in the HTTP API. */
function asDocumented({ invocationId, isReplay, ...answer }: AcceptedCommand): object {
  const { url, streamPath, streamUrl, idempotencyKey, requestId } = answer;
  const restate = { invocationId };
  return { url, streamPath, streamUrl, restate, replayed: isReplay, idempotencyKey, requestId };
}

/** A response in words, such as `assistant/ada: accepted as inv_1x`. */
export function acceptedInWords(answer: AcceptedCommand): string {
  const again = answer.isReplay ? ' before, with the same idempotency key' : '';
  return `${addressOf(answer)}: accepted${again} as ${plainLine(answer.invocationId)}`;
}

/** In single quotes if a shell would split or change it. */
function shellWord(text: string): string {
  return /^[\w.:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
