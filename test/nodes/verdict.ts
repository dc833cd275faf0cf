import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryKind } from '../../local/cluster/cluster.ts';
import type { Command, Event, Load } from './load.ts';

/** Agents whose node was away are tried again after up to two seconds; an invocation of a frozen one takes longer. */
const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 500;

/** What must be zero, and what was counted. */
export interface Verdict {
  accepted: number;
  /** Accepted, and in no timeline. */
  lost: string[];
  /** In a timeline more than once, or answered more than once. */
  twice: string[];
  /** Accepted by an agent, and not answered. */
  unanswered: string[];
  /** Gaps and repetitions that readers saw, and readers that did not get everything. */
  gaps: string[];
  /** Events that a store has twice under one number: it forgot at its end that a producer had appended them. */
  repeatedByStore: string[];
  turns: number;
  readers: number;
}

/** Waits until every accepted message is answered and every reader has all of it, for a time, and says what is missing. */
export async function verdictOn(load: Load): Promise<Verdict> {
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const timelines = await readAll(load).catch((error: unknown) => error as Error);
    const isLate = performance.now() > giveUpAtMs;
    if (timelines instanceof Error) {
      if (isLate) throw timelines;
    } else {
      const verdict = judge(load, timelines);
      const { lost, unanswered, gaps } = verdict;
      if (isLate || lost.length + unanswered.length + gaps.length === 0) return verdict;
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

async function readAll(load: Load): Promise<Map<string, Event[]>> {
  const read = load.agents.map(async (agent) => [agent, await load.timeline(agent)] as const);
  return new Map(await Promise.all(read));
}

function judge(load: Load, stored: ReadonlyMap<string, Event[]>): Verdict {
  const repeatedByStore = [...stored].flatMap(([agent, events]) =>
    events
      .filter((event, index) => isRepeated(event, events[index - 1]))
      .map(({ seq }) => `${agent} ${seq}`),
  );
  const timelines = new Map(
    [...stored].map(([agent, events]) => [
      agent,
      events.filter((event, index) => !isRepeated(event, events[index - 1])),
    ]),
  );
  const accepted = load.commands.filter(({ outcome }) => outcome === 'accepted');
  const lost: string[] = [];
  const twice: string[] = [];
  const unanswered: string[] = [];
  for (const command of load.commands) {
    const timeline = timelines.get(command.agent) ?? [];
    const messages = timeline.filter((event) => isMessageOf(event, command));
    const replies = messages.map(({ seq }) => timeline.filter(({ replyTo }) => replyTo === seq));
    const finals = replies.flat().filter(({ kind }) => kind === 'reply');
    if (messages.length > 1 || finals.length > 1) twice.push(nameOf(command));
    if (messages.length === 0 && command.outcome === 'accepted') lost.push(nameOf(command));
    if (messages.length === 1 && finals.length === 0) unanswered.push(nameOf(command));
  }
  const gaps = [...timelines].flatMap(([agent, events]) =>
    events.every(({ seq }, index) => seq === index) ? [] : [`the timeline of ${agent}`],
  );
  for (const [index, { agent, reader }] of load.readers.entries()) {
    const { faults, events } = reader;
    const all = timelines.get(agent)?.length ?? 0;
    const isOfStore = (fault: string): boolean =>
      repeatedByStore.includes(`${agent} ${fault.split(' ')[0]}`);
    for (const fault of [...faults.gaps, ...faults.repeats])
      if (!isOfStore(fault)) gaps.push(`reader ${index}: ${fault}`);
    if (events.length < all) gaps.push(`reader ${index}: ${events.length} of ${all} events`);
  }
  return {
    accepted: accepted.length,
    lost,
    twice,
    unanswered,
    gaps,
    repeatedByStore,
    turns: accepted.filter(({ agent }) => agent.startsWith('assistant/')).length,
    readers: load.readers.length,
  };
}

function isRepeated(event: Event, before: Event | undefined): boolean {
  return before !== undefined && JSON.stringify(event) === JSON.stringify(before);
}

const nameOf = ({ agent, text, client, reason }: Command): string =>
  `${agent} ${text} (${client}${reason && `, ${reason}`})`;

function isMessageOf({ kind, content }: Event, { text }: Command): boolean {
  return kind === 'message' && content?.[0]?.text === text;
}

/** The Node server is for trying out: with a file it may forget, when it is killed, that a producer has appended an event. */
const FORGETFUL: readonly HistoryKind[] = ['node'];

/** Says what is wrong, if anything is. */
export function isGood(verdict: Verdict, load: Load, history: HistoryKind): boolean {
  const { lost, twice, unanswered, gaps, repeatedByStore } = verdict;
  const patient = load.commands.filter(({ client }) => client === 'patient');
  const refused = patient.filter(({ outcome }) => outcome !== 'accepted');
  const faults = {
    lost,
    twice,
    unanswered,
    gaps,
    'given up with retries': refused,
    'repeated by the store': FORGETFUL.includes(history) ? [] : repeatedByStore,
  };
  for (const [what, list] of Object.entries(faults))
    if (list.length > 0) console.log(`FAILED ${what}:`, list.slice(0, 10));
  return Object.values(faults).every((list) => list.length === 0);
}

/** What was counted, in two sentences. */
export function summaryOf(verdict: Verdict, history: HistoryKind): string {
  const { accepted, lost, twice, unanswered, gaps, repeatedByStore, turns, readers } = verdict;
  return (
    `${new Date().toISOString().slice(0, 10)}, history store ${history}: of ${accepted} accepted commands ${lost.length} were lost, ` +
    `${twice.length} ran twice and ${unanswered.length} were not answered; ${turns} turns; ${readers} readers saw ${gaps.length} gaps. ` +
    `The store repeated ${repeatedByStore.length} events by itself.\n`
  );
}
