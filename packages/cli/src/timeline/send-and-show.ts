import type { AcceptedCommand, Stop } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import { timelineTarget, type Entity } from '../connection/address.ts';
import type { Connection } from '../connection/connection.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { OwnReply } from './own-reply.ts';
import { endOf, showStream, type ShowOptions } from './show-stream.ts';

export interface SendAndShowOptions extends Omit<ShowOptions, 'isLast'> {
  /** The kind of event to wait for. */
  until: string;
  /** In seconds. Undefined means without end. */
  timeout: number | undefined;
}

/**
 * Sends a message and shows the timeline from just before it until the agent has replied to this message. Throws a
 * `CliError` if there is no reply.
 */
export async function sendAndShow(
  entity: Entity,
  send: () => Promise<AcceptedCommand>,
  { until, timeout, ...options }: SendAndShowOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const from = await endOf(openGateway(connection), timelineTarget(entity));
  const answer = await send();
  const reply = new OwnReply(answer, until);
  const late = new AbortController();
  const timer = timeout === undefined ? undefined : setTimeout(() => late.abort(), timeout * 1_000);
  try {
    const path = `/streams${answer.streamPath}`;
    const request = { path, from, follow: true, waitForStream: true, until: late.signal };
    const isLast = reply.take.bind(reply);
    await showStream(request, { ...options, isLast }, connection, context);
  } finally {
    clearTimeout(timer);
  }
  throwUnlessFound(reply, late.signal.aborted ? timeout : undefined);
}

function throwUnlessFound({ isFound, turn }: OwnReply, waitedSeconds: number | undefined): void {
  if (isFound) return;
  const why = plainLine(turn?.error ?? '');
  switch (turn?.state) {
    case 'stopped':
      throw new CliError(EXIT.failed, stopInWords(turn.stoppedBy?.verb));
    case 'refused':
      throw new CliError(EXIT.invalid, `The agent refused the message: ${why}.`);
    case 'failed':
      throw new CliError(EXIT.failed, `The agent failed: ${why}.`);
    default:
  }
  throw waitedSeconds === undefined
    ? new CliError(EXIT.failed, 'The timeline ended before the reply.')
    : new CliError(
        EXIT.failed,
        `There is no reply after ${waitedSeconds} s.`,
        'The message was accepted, so the agent may still reply: agent-gateway tail shows it.',
      );
}

function stopInWords(verb: Stop['verb'] | undefined): string {
  if (verb === 'withdraw') return 'The message was withdrawn.';
  return verb === 'stop' ? 'The reply was stopped.' : 'The reply was interrupted.';
}
