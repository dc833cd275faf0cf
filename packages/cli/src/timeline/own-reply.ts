import { isOpen, type AgentEvent, type Turn } from '../../../client/src/index.ts';
import { isNamedBy, ownTurnAfter, type OwnCommand } from '../../../client/src/own-turn.ts';

/** Follows the turn of one message until the event to wait for, or until there can be none. */
export class OwnReply {
  readonly #command: OwnCommand;
  readonly #kind: string;
  #turn: Turn | undefined;
  #isFound = false;

  /** `kind` is the kind of the event to wait for, usually `reply`. */
  constructor(command: OwnCommand, kind: string) {
    this.#command = command;
    this.#kind = kind;
  }

  /** The turn so far. Undefined before its first event. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** Whether the event to wait for has come. A stopped reply is none. */
  get isFound(): boolean {
    return this.#isFound;
  }

  /** @returns whether this is the last event of interest. */
  take(event: AgentEvent): boolean {
    const turn = ownTurnAfter(this.#turn, event, this.#command);
    if (turn) this.#turn = turn;
    const isOwn = turn !== undefined || isNamedBy(event, this.#command);
    const state = this.#turn?.state ?? 'waiting';
    this.#isFound = isOwn && event.kind === this.#kind && state !== 'stopped';
    return this.#isFound || (!isOpen({ state }) && state !== 'done');
  }
}
