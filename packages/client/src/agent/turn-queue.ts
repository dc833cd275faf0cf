import type { AgentStatus, ControlVerb, Stop } from '../events.ts';
import type { Control } from './command.ts';
import type { Entity } from './entity.ts';

/** An agent that answers one message at a time. */
export interface TurnTaker extends Entity {
  /** The `seq` of the messages that wait, oldest first. */
  inbox: number[];
  turn?: RunningTurn;
  /** The number of the newest invocation that answers. An earlier one has nothing to say any more. */
  newest: number;
}

export interface RunningTurn {
  replyTo: number;
  /** The number of its `word` events. */
  index: number;
  invocationId?: string;
  /** It ended because the agent was paused. */
  isHeld?: boolean;
}

interface RequestRef {
  requestId?: string;
}

/** A message whose turn was stopped before its end. */
export interface StoppedTurn {
  replyTo: number;
  stopped: Stop;
}

/**
 * Applies a verb. @returns the turns that it stops. The first may be under way, and the others have not begun.
 */
export function applyVerb(
  self: TurnTaker,
  { verb, reason }: Control,
  request: RequestRef,
): StoppedTurn[] {
  const stopped: StoppedTurn[] = [];
  if (verb === 'interrupt' || verb === 'archive') {
    const stop: Stop = { verb, ...(reason !== undefined && { reason }), ...request };
    for (const replyTo of takeStopped(self, verb)) stopped.push({ replyTo, stopped: stop });
  }
  self.status = statusAfter(self, verb);
  return stopped;
}

/** An interrupt stops the turn under way, or the next one; an archive stops all. */
function takeStopped(self: TurnTaker, verb: 'interrupt' | 'archive'): number[] {
  const { turn } = self;
  delete self.turn;
  const first = turn ? [turn.replyTo] : self.inbox.splice(0, 1);
  return verb === 'interrupt' ? first : [...first, ...self.inbox.splice(0)];
}

function statusAfter(self: TurnTaker, verb: ControlVerb): AgentStatus {
  if (verb === 'archive') return 'archived';
  if (verb === 'pause' || (verb === 'interrupt' && self.status === 'paused')) return 'paused';
  return self.turn || self.inbox.length > 0 ? 'running' : 'idle';
}

/** Begins with the oldest message that waits, if no turn is under way. @returns whether a turn begins. */
export function beginNext(self: TurnTaker): boolean {
  if (self.status === 'paused' || self.status === 'archived' || self.turn) return false;
  const replyTo = self.inbox.shift();
  self.status = replyTo === undefined ? 'idle' : 'running';
  if (replyTo !== undefined) self.turn = { replyTo, index: 0 };
  return replyTo !== undefined;
}
