import {
  APIError,
  type AgentFailure,
  type AgentGateway,
  type EntityRow,
  type Invocation,
  type TimelineEvent,
} from '../../../client/src/index.ts';
import { cellText } from '../catalog/catalog-text.ts';
import { failuresWithRows, failureText } from '../catalog/failing-agents.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import { DEFAULT_TENANT, entityAddress, parseEntity } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { failureOf } from '../connection/failure.ts';
import { rowOf, SingleAttempt } from '../connection/single-attempt.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { entityUrl } from '../gateway-rules.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import { joined, styled, text, type Styled, type Text } from '../output/styled.ts';
import { TimelinePrinter } from '../timeline/timeline-printer.ts';

/** The number of last events to show. */
const EVENTS = 5;

interface Description {
  row: EntityRow | undefined;
  events: TimelineEvent[] | undefined;
  invocations: Invocation[] | undefined;
  failure: AgentFailure | undefined;
  /** The parts that the key does not open, in words. */
  closed: string[];
}

/** Prints everything known about one entity. Throws a `CliError` if nothing is. */
export async function describeEntity(
  address: string,
  options: ConnectionFlags & { json?: boolean },
  context: CliContext,
): Promise<void> {
  const connection = await connect(options, context);
  const { tenant = DEFAULT_TENANT, ...rest } = parseEntity(address, connection);
  const url = entityUrl({ tenant, ...rest });
  try {
    const found = await lookUp(openGateway(connection), url, context.interrupted);
    const { row, events, invocations, failure, closed } = found;
    if (closed.length > 0) context.notices.say(`The key does not open ${closed.join(' and ')}.`);
    if (!row && !events && !failure && !(invocations && invocations.length > 0)) {
      const name = entityAddress({ tenant: undefined, ...rest });
      throw new CliError(EXIT.notFound, `Nothing is known of ${name}.`);
    }
    const { stdout } = context;
    if (options.json === true) await printJson(stdout, { row, events, invocations, failure });
    else await print(stdout, inWords(url, found));
  } catch (error) {
    context.interrupted.throwIfAborted();
    throw failureOf(error, connection);
  }
}

async function lookUp(
  gateway: AgentGateway,
  url: string,
  signal: AbortSignal,
): Promise<Description> {
  const closed: string[] = [];
  /** The part, or undefined if the key does not open it or it does not exist. */
  const part = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      if (error.status === 403) closed.push(what);
      else if (error.status !== 404) throw error;
      return undefined;
    }
  };
  const [row, events, invocations, failures] = await Promise.all([
    part('the catalog', () => rowOf(gateway, url, signal)),
    part('its timeline', () => lastEvents(gateway, url, signal)),
    part('the registry', () => gateway.invocations.list({ agent: url, signal })),
    part('the registry', () => failuresWithRows(gateway, { agent: url, signal })),
  ]);
  return { row, events, invocations, failure: failures?.[0], closed: [...new Set(closed)] };
}

async function lastEvents(
  gateway: AgentGateway,
  url: string,
  signal: AbortSignal,
): Promise<TimelineEvent[]> {
  const attempt = new SingleAttempt(signal);
  const read = { live: false as const, waitForStream: false };
  const events: TimelineEvent[] = [];
  for await (const event of gateway.timeline(url, { ...read, ...attempt.options })) {
    events.push(event);
    if (events.length > EVENTS) events.shift();
  }
  attempt.throwIfFailed();
  return events;
}

function inWords(url: string, { row, events, invocations, failure }: Description): Styled {
  const facts = Object.entries({ url, ...row })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const title = styled('bold', plainLine(name).padEnd(12));
      return text`${title}  ${cellText({ [name]: value }, name)}\n`;
    });
  const printer = new TimelinePrinter();
  const shown = (events ?? []).map((event) => printer.print(event));
  const hanging = (invocations ?? []).map(invocationInWords);
  return joined([
    ...facts,
    ...(failure ? section('failure', [failureInWords(failure)]) : []),
    ...(events ? section('last events', [...shown, printer.endLine()]) : []),
    ...(hanging.length > 0 ? section('invocations that have not ended', hanging) : []),
  ]);
}

function section(title: string, lines: readonly Text[]): Text[] {
  return [text`\n${styled('bold', title)}\n`, ...lines];
}

/** With all lines of the error: an operator reads it here. */
function failureInWords(failure: AgentFailure): string {
  const [, ...stack] = failure.reason.split('\n');
  const lines = [failureText(failure), ...stack.map((line) => `  ${plainLine(line)}`)];
  return `${lines.join('\n')}\n`;
}

function invocationInWords(invocation: Invocation): string {
  const { id, target, status, createdAt, tries, lastFailure, nextTryAt } = invocation;
  const since = localTime(createdAt) ?? plainLine(createdAt);
  const lines = [
    `${plainLine(target)}  ${plainLine(status)}, tries: ${tries}`,
    `  ${plainLine(id)}`,
    `  since ${since}`,
  ];
  if (nextTryAt !== undefined) {
    lines.push(`  next try ${localTime(nextTryAt) ?? plainLine(nextTryAt)}`);
  }
  if (lastFailure !== undefined) lines.push(`  its last try failed: ${plainLine(lastFailure)}`);
  return `${lines.join('\n')}\n`;
}
