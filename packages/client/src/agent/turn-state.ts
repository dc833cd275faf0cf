import type { AgentStatus, ControlVerb, Usage } from '../events.ts';
import type { Entity } from './entity.ts';

/** The most agents that wait for each other. */
export const MAX_CHAIN = 16;

/** The agent that waits for the reply to a message, and the call in which it does. */
export interface Caller {
  /** The URL of the agent. */
  url: string;
  call: string;
  /** The URLs of the agents that wait, the first one first. */
  chain: string[];
}

/** A message that waits. */
export interface WaitingTurn {
  /** The name of the turn: the invocation id of its command. */
  id: string;
  /** The number of the message's event. */
  seq: number;
  caller?: Caller;
}

/** The turn under way. */
export interface Turn extends WaitingTurn {
  /** The number of its `word` events. */
  index: number;
  /** The number of its calls of tools. */
  calls: number;
  /** The invocation that answers. None while the turn is held or a call waits. */
  run?: string;
  /** It ended because the agent was paused. */
  isHeld?: boolean;
  /** How often an invocation that answers was gone since it last wrote. */
  losses?: number;
  /** Since when it fails, in milliseconds since 1970. */
  failingSince?: number;
  usage?: Usage;
}

/** An agent that answers one message at a time. */
export interface TurnTaker extends Entity {
  /** The messages that wait, oldest first. */
  inbox: WaitingTurn[];
  turn?: Turn;
  /** The number of the newest invocation that answers. An earlier one has nothing to say any more. */
  newest: number;
  /** The last turn failed for good. */
  hasFailed?: boolean;
  /** The URLs of the agents that it spawned. */
  children?: string[];
  /** Its delayed messages to itself, by the name of the command that asked for each. */
  reminders?: Record<string, string>;
  /** The hours of which the places of turns are kept. */
  hours?: number[];
}

/** The state as version 0.2.0 wrote it. */
interface EarlierTurnTaker extends Entity {
  inbox?: (WaitingTurn | number)[];
  turn?: Turn | { replyTo: number; index: number; invocationId?: string; isHeld?: boolean };
  newest?: number;
}

/** With what a new entity does not have yet, and what 0.2.0 had in another form: turns had no name but a number. */
export function turnTaker(entity: Entity): TurnTaker {
  const self = entity as EarlierTurnTaker;
  self.newest ??= 0;
  self.inbox = (self.inbox ?? []).map((one) =>
    typeof one === 'number' ? { id: String(one), seq: one } : one,
  );
  if (self.turn && 'replyTo' in self.turn) {
    const { replyTo, index, invocationId, isHeld } = self.turn;
    self.turn = {
      id: String(replyTo),
      seq: replyTo,
      index,
      calls: 0,
      ...(invocationId !== undefined && { run: invocationId }),
      ...(isHeld === true && { isHeld }),
    };
  }
  return self as TurnTaker;
}

/** The verbs that stop turns, and the status after each verb. One that the gateway knows and this does not is an error at compile time. */
const STOPS: Record<ControlVerb, 'none' | 'one' | 'all'> = {
  interrupt: 'one',
  archive: 'all',
  pause: 'none',
  resume: 'none',
};

/** Applies a verb. @returns the turns that it stops, the one under way first. */
export function applyVerb(self: TurnTaker, verb: ControlVerb): (Turn | WaitingTurn)[] {
  const turns = takeStopped(self, STOPS[verb]);
  if (verb === 'archive') self.status = 'archived';
  else if (verb === 'pause') self.status = 'paused';
  else if (!(verb === 'interrupt' && self.status === 'paused')) self.status = restingStatus(self);
  return turns;
}

function takeStopped(self: TurnTaker, which: 'none' | 'one' | 'all'): (Turn | WaitingTurn)[] {
  if (which === 'none') return [];
  const { turn } = self;
  delete self.turn;
  const first = turn ? [turn] : self.inbox.splice(0, 1);
  return which === 'one' ? first : [...first, ...self.inbox.splice(0)];
}

/** Takes one turn out, wherever it is. Undefined if it has ended, or was never here. */
export function takeTurn(
  self: TurnTaker,
  isMeant: (turn: WaitingTurn) => boolean,
): Turn | WaitingTurn | undefined {
  const { turn } = self;
  if (turn && isMeant(turn)) {
    delete self.turn;
    return turn;
  }
  const place = self.inbox.findIndex(isMeant);
  return place === -1 ? undefined : self.inbox.splice(place, 1)[0];
}

/** Whether a turn may begin or continue. */
export function isAtWork({ status }: TurnTaker): boolean {
  return status !== 'paused' && status !== 'archived';
}

/** Begins with the oldest message that waits, if no turn is under way. @returns whether a turn begins. */
export function beginNext(self: TurnTaker): boolean {
  if (!isAtWork(self) || self.turn) return false;
  const next = self.inbox.shift();
  if (next) self.turn = { ...next, index: 0, calls: 0 };
  self.status = restingStatus(self);
  return next !== undefined;
}

/** The status of an agent that is neither paused nor archived, as far as it does not depend on what its turn does. */
export function restingStatus(self: TurnTaker): AgentStatus {
  if (self.turn || self.inbox.length > 0) return 'running';
  return self.hasFailed ? 'failed' : 'idle';
}
