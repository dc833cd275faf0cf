import { Command, Option } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { streamTarget } from '../connection/address.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { withConnection, withRetry, type ConnectedOptions } from './options.ts';

interface TailOptions extends ConnectedOptions {
  from: string;
  follow: boolean;
  live?: 'sse' | 'long-poll';
  wait?: boolean;
  until?: string;
  last?: number;
  json?: boolean;
}

export function tailCommand(context: CliContext): Command {
  const command = new Command('tail')
    .summary('read a timeline, and follow it live')
    .description(
      'Prints the events of a timeline and then each new one, until Ctrl-C. When the connection breaks or the gateway ' +
        'restarts, it continues from its last offset: no event is lost or repeated. A stream that is not a timeline is ' +
        'written unchanged.',
    )
    .argument('<address>', 'an entity (type/id or its URL), or the path of a stream')
    .option('--from <where>', 'start, now, or the offset of an earlier read', 'start')
    .option('--last <count>', 'begin with this many of the latest events', parseCount)
    .option('--no-follow', 'end after the current end of the stream')
    .option('--until <kind>', 'end after the first event of this kind, such as reply')
    .option('--wait', 'wait for a timeline that does not exist yet')
    .addOption(
      new Option('--live <how>', 'how to wait for more (sse for events, else long-poll)').choices([
        'sse',
        'long-poll',
      ]),
    )
    .option('--json', 'print events as JSON, one per line');
  return withConnection(withRetry(command))
    .addHelpText(
      'after',
      examples(
        'agent-gateway tail assistant/ada',
        'agent-gateway tail assistant/ada --last 20',
        'agent-gateway tail assistant/ada --from now --json | jq .kind',
        'agent-gateway tail assistant/ada --no-follow > timeline.txt',
        'agent-gateway tail /streams/t/default/agents/assistant/ada/timeline --key-file read-token',
      ),
    )
    .action((address: string, options: TailOptions) => tail(address, options, context));
}

async function tail(address: string, options: TailOptions, context: CliContext): Promise<void> {
  const connection = await connect(options, context);
  const target = streamTarget(address, connection);
  const { follow, wait: waitForStream = false, live } = options;
  const { last, until } = options;
  const from = offsetOf(options.from);
  const request = { path: target, from, follow, waitForStream, live, last };
  const isLast = until === undefined ? undefined : isOfKind(until);
  const { showStream } = await import('../timeline/show-stream.ts');
  await showStream(request, { ...options, isLast }, connection, context);
}

function isOfKind(wanted: string): (event: { kind?: unknown }) => boolean {
  return ({ kind }) => kind === wanted;
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usageError('--last must be a number of events.');
  return Number(text);
}

/** Throws a usage error. */
function offsetOf(from: string): string {
  // The store defines the offsets. None is empty or contains spaces.
  if (!/^[\x21-\x7e]+$/.test(from)) throw usageError('--from must be start, now or an offset.');
  return from;
}
