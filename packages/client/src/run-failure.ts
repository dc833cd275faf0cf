import type { AgentFailure } from './failures.ts';
import type { Run } from './run.ts';
import { isOpen } from './turn.ts';

/** A command that is handled here is not on the timeline before its handler has succeeded. */
const OF_COMMAND = /\/(?:spawn|wake|control)$/;

/**
 * The runs of an agent with what Restate and the agent's state know of its failure. A command that fails is not on the timeline: it is a run of
 * its own.
 */
export function withFailure(
  runs: readonly Run[],
  agent: string,
  failure: AgentFailure | undefined,
): Run[] {
  if (!failure) return [...runs];
  const { state, reason: detail, nextTryAt, tries, invocation } = failure;
  if (invocation && OF_COMMAND.test(invocation.target))
    return [...runs, unrecorded(agent, failure)];
  const isFinal = state === 'failed';
  const place = runs.findLastIndex((run) =>
    isFinal ? run.state === 'failed' : isUnderWay(run) && run.beganAt !== undefined,
  );
  const run = runs[place];
  if (!run) return [...runs];
  if (isFinal) return runs.with(place, { ...run, detail });
  // Restate counts the attempts of an invocation, and the timeline those of the model.
  const attempts = Math.max(run.attempts, tries);
  return runs.with(place, { ...run, state: 'failing', attempts, detail, nextTryAt });
}

/** Whether the agent has yet to end the run. */
export function isUnderWay({ state }: Pick<Run, 'state'>): boolean {
  return state === 'failing' || isOpen({ state });
}

function unrecorded(
  agent: string,
  { state, since, tries, reason, nextTryAt, invocation }: AgentFailure,
): Run {
  return {
    agent,
    key: `#${invocation?.id ?? 'command'}`,
    id: invocation?.id,
    seq: undefined,
    message: '',
    state: state === 'failed' ? 'failed' : 'failing',
    askedAt: since,
    beganAt: since,
    endedAt: undefined,
    durationMs: undefined,
    attempts: tries,
    steps: [],
    waiting: [],
    error: undefined,
    detail: reason,
    nextTryAt,
    stoppedBy: undefined,
    usage: undefined,
  };
}
