import type { Usage } from '../events.ts';
import type { AgentOptions } from './entity.ts';
import type { PastTurn } from './generation.ts';
import type { Json } from './json.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import type { Turn } from './turn-state.ts';
import type { Call, Part } from './turn-store.ts';

/** What the invocation that answers gets. */
export interface Work {
  key: string;
  url: string;
  /** The number of the invocation. */
  number: number;
  turn: Turn;
  message: Message;
  turns: PastTurn[];
  written: Part[];
  args?: Json;
}

/** A call that is still in this state after so long is given up. */
export interface WaitLimit {
  call: string;
  state: Call['state'];
  afterMs: number;
}

/** What it gives back. */
export interface Write {
  number: number;
  events: NewEvent[];
  /** The calls that changed, as they are now. What a tool threw is in them, and not in the events. */
  calls?: Call[];
  /** The failure that the events tell of in plain words, or null where it has ended. */
  failure?: { attempt: number; error: string } | null;
  usage?: Usage;
  limits?: WaitLimit[];
  /** The invocation ends here, because all that is left waits. */
  isParked?: boolean;
}

export interface EntitySettings extends AgentOptions {
  /** The private service that answers, watches and delivers. */
  turnService: string;
  /** The name of the entity type. */
  name: string;
  maxWaiting: number;
  /** How long Restate keeps the keys of commands. */
  keyRetentionMs: number;
}
