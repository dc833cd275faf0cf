import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { commandPath, parseEntity } from '../connection/address.ts';
import { contentTypeOf, readInput } from './body.ts';
import {
  acceptedInWords,
  issueCommand,
  printAnswer,
  withCommandOptions,
  type CommandOptions,
  type Issue,
} from './issue-command.ts';
import { connect, examples, withConnection, withRetry } from './options.ts';

interface SendOptions extends CommandOptions {
  file?: string;
  raw?: boolean;
  contentType?: string;
  tail?: boolean;
  until?: string;
}

export function sendMessageCommand(context: CliContext): Command {
  const command = new Command('send')
    .summary('send a message to an entity')
    .description(
      'Sends a message. A text is sent as a message with that text in it; with --raw, and of a file,\n' +
        'the very bytes are sent. When it is accepted the runtime has it: it will be handled.',
    )
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .argument('[text]', 'the text; - for standard input')
    .option('-f, --file <file>', 'send the bytes of a file; - for standard input')
    .option('--raw', 'send the text as it stands, not as the text of a message')
    .option('--content-type <type>', "of the bytes: the file's by its name, else application/json")
    .option('--tail', 'follow the timeline from here, until Ctrl-C')
    .option(
      '--until <kind>',
      'with --tail: end behind the first event of this kind, such as reply',
    );
  return withConnection(withRetry(withCommandOptions(command)))
    .addHelpText(
      'after',
      examples(
        'agent-gateway send assistant/ada "Hello, who are you?"',
        'agent-gateway send assistant/ada "count to 5" --tail --until reply',
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
  if (options.until !== undefined && options.tail !== true) {
    throw usageError('--until goes with --tail.');
  }
  const connection = await connect(options, context);
  const path = commandPath(parseEntity(address, connection), 'send');
  const message = await messageOf(text, options, context);
  if (options.tail !== true) {
    const answer = await issueCommand({ path, ...message }, options, connection, context);
    await printAnswer(answer, acceptedInWords(answer), options, context);
    return;
  }
  const { sendAndShow } = await import('../timeline/show-timeline.ts');
  await sendAndShow(
    parseEntity(address, connection),
    () => issueCommand({ path, ...message }, options, connection, context),
    options,
    connection,
    context,
  );
}

/** The bytes to send, and what they are. Throws a usage error. */
async function messageOf(
  text: string | undefined,
  { file, raw, contentType }: SendOptions,
  context: CliContext,
): Promise<Omit<Issue, 'path'>> {
  if ((text === undefined) === (file === undefined)) {
    throw usageError('What is to be sent? Give a text, - for standard input, or --file.');
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
  const body = JSON.stringify({ kind: 'message', content: [part] });
  return { body, contentType: 'application/json' };
}
