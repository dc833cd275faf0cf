import { TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import { readControl, readSpawn } from './command.ts';
import { addressOf, openEntity } from './entity.ts';
import { forget } from './forget.ts';
import { readInput } from './input.ts';
import { Visit } from './visit.ts';
import type { EntitySettings, Write, WaitLimit } from './work.ts';

/**
 * The handlers of an agent's entity, all of them short. They alone write to the timeline, so that an answer under way
 * and a command never write at the same time. Which turn is the current one is decided here: an invocation that was
 * stopped, but has not noticed it yet, gets false for what it writes.
 */
export class AgentEntity {
  readonly #settings: EntitySettings;

  constructor(settings: EntitySettings) {
    this.#settings = settings;
  }

  readonly spawn = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const spawn = readSpawn(body);
    if (!spawn) throw new TerminalError('not a spawn', { errorCode: 400 });
    const visit = new Visit(ctx, this.#settings);
    if (await visit.find()) await visit.leave();
    else {
      if (spawn.args !== undefined) ctx.set('args', spawn.args);
      await openEntity(ctx, this.#settings, spawn);
    }
  };

  readonly wake = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const input = readInput(body, addressOf(ctx).url);
    if ('kind' in input && input.kind === 'forget') {
      await forget(ctx, this.#settings, input.children);
      return;
    }
    const visit = new Visit(ctx, this.#settings);
    try {
      await visit.open(!('kind' in input) || input.kind === 'message' || input.kind === 'remind');
    } catch (error) {
      // The agent that waits hears of it, too.
      if (error instanceof TerminalError && 'caller' in input) visit.refuse(input, error.message);
      throw error;
    }
    await visit.take(input);
    await visit.leave();
  };

  readonly control = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const control = readControl(body);
    if (!control) throw new TerminalError('nothing to control', { errorCode: 404 });
    const visit = new Visit(ctx, this.#settings);
    await visit.open(false);
    await visit.control(control);
    await visit.leave();
  };

  /** Records what the invocation of the current turn has to say. @returns false if it is to end. */
  readonly write = async (ctx: ObjectContext, given: Write): Promise<boolean> => {
    const visit = new Visit(ctx, this.#settings);
    if (!(await visit.find())) return false;
    const continues = visit.self.newest === given.number && (await visit.write(given));
    await visit.leave(false);
    return continues;
  };

  /** The invocation of this number does not exist any more. */
  readonly gone = async (ctx: ObjectContext, { number }: { number: number }): Promise<void> => {
    const visit = new Visit(ctx, this.#settings);
    if (!(await visit.find())) return;
    if (visit.self.newest === number) await visit.answerAgain();
    await visit.leave(false);
  };

  /** Nobody decided, or no child replied, in time. */
  readonly expire = async (ctx: ObjectContext, limit: WaitLimit): Promise<void> => {
    const visit = new Visit(ctx, this.#settings);
    if (!(await visit.find())) return;
    await visit.expire(limit);
    await visit.leave(false);
  };
}
