import { Command } from 'commander';
import type { AcceptedCommand } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { entityAddress, parseEntity } from '../connection/address.ts';
import { contentTypeOf, readInput } from './body.ts';
import {
  acceptedInWords,
  issueCommand,
  printAnswer,
  withCommandOptions,
  withCreate,
  type CommandOptions,
  type CreateOption,
} from './issue-command.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import { parseSeconds, withConnection, withRetry } from './options.ts';

interface SendOptions extends CommandOptions, CreateOption {
  file?: string;
  raw?: boolean;
  contentType?: string;
  tail?: boolean;
  until?: string;
  /** In seconds. */
  timeout?: number;
}

/** The bytes to send, and what they are. */
interface Message {
  body: Uint8Array;
  contentType: string;
}

export function sendMessageCommand(context: CliContext): Command {
  const command = new Command('send')
    .summary('send a message to an entity')
    .description(
      'Sends a message. A text becomes a message with that text; --raw and --file send the bytes unchanged. Once the ' +
        'runtime has accepted the message, the agent will handle it.',
    )
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .argument('[text]', 'the text; - for standard input')
    .option('-f, --file <file>', 'send the bytes of a file; - for standard input')
    .option('--raw', 'send the text unchanged, not as the text of a message')
    .option(
      '--content-type <type>',
      "content type of the bytes (default: by the file's name, else application/json)",
    )
    .option('--tail', 'show the timeline until the agent replies to this message')
    .option('--until <kind>', 'with --tail: wait for this kind of event instead of a reply')
    .option('--timeout <seconds>', 'with --tail: stop waiting after this time', (text) =>
      parseSeconds('--timeout', text),
    );
  return withConnection(withRetry(withCommandOptions(withCreate(command))))
    .addHelpText(
      'after',
      examples(
        'agent-gateway send assistant/ada "Hello, who are you?"',
        'agent-gateway send assistant/ada "count to 5" --tail --timeout 60',
        'git diff | agent-gateway send assistant/ada -',
        'agent-gateway send assistant/ada --file message.json',
        `agent-gateway send assistant/ada --raw '{"kind":"message","content":[]}'`,
      ),
    )
    .action((address: string, text: string | undefined, options: SendOptions) =>
      send(address, text, options, context),
    );
}

async function send(
  address: string,
  text: string | undefined,
  options: SendOptions,
  context: CliContext,
): Promise<void> {
  const { tail, until, timeout } = options;
  if (tail !== true && until !== undefined) throw usageError('--until goes with --tail.');
  if (tail !== true && timeout !== undefined) throw usageError('--timeout goes with --tail.');
  const connection = await connect(options, context);
  const entity = parseEntity(address, connection);
  const { body, contentType } = await messageOf(text, options, context);
  if (options.create !== true) await refuseUnknown(entity, connection, context);
  const issue = (): Promise<AcceptedCommand> =>
    issueCommand(
      ({ agents }, how) => agents.send(entityAddress(entity), body, { ...how, contentType }),
      options,
      connection,
      context,
    );
  if (tail !== true) {
    const answer = await issue();
    await printAnswer(answer, acceptedInWords(answer), options, context);
    return;
  }
  if (options.idempotencyKey !== undefined) {
    throw usageError(
      '--idempotency-key does not go with --tail: the reply to a message that was accepted before may stand anywhere.',
    );
  }
  const { sendAndShow } = await import('../timeline/send-and-show.ts');
  const show = { ...options, until: until ?? 'reply', timeout };
  await sendAndShow(entity, issue, show, connection, context);
}

/** The bytes to send and their media type. Throws a usage error. */
async function messageOf(
  text: string | undefined,
  { file, raw, contentType }: SendOptions,
  context: CliContext,
): Promise<Message> {
  if ((text === undefined) === (file === undefined)) {
    throw usageError('Nothing to send. Give a text, - for standard input, or --file.');
  }
  if (file !== undefined) {
    const body = await readInput(file, context);
    return { body, contentType: contentType ?? contentTypeOf(file) };
  }
  const said = text === '-' ? await readInput('-', context) : Buffer.from(text ?? '');
  if (raw === true || contentType !== undefined) {
    return { body: said, contentType: contentType ?? 'application/json' };
  }
  const part = { type: 'text', text: said.toString('utf8').replace(/\n$/, '') };
  const body = Buffer.from(JSON.stringify({ kind: 'message', content: [part] }));
  return { body, contentType: 'application/json' };
}
