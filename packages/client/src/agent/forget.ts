import { InvocationIdParser, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { EntitySettings } from './work.ts';
import { sendRowRemoval } from './catalog-row.ts';
import { Courier } from './courier.ts';
import { addressOf, ENTITY_STATE, requestIdOf, type Entity, type Receipt } from './entity.ts';
import { HistoryStore } from './history-store.ts';
import { turnTaker } from './turn-state.ts';
import { TurnStore } from './turn-store.ts';

/**
 * Ends what an agent does, and deletes its timeline, its row and its state. What is left is a receipt without content, by which later
 * commands are refused. It may be repeated: each step finds what is still there.
 */
export async function forget(
  ctx: ObjectContext,
  settings: EntitySettings,
  withChildren: boolean,
): Promise<void> {
  const { url, stream } = addressOf(ctx);
  const found = await ctx.get<Entity>(ENTITY_STATE);
  if (!found) throw new TerminalError('there is no such agent', { errorCode: 404 });
  if (found.url !== url) throw new TerminalError(`this object is ${found.url}, not ${url}`);
  if (found.forgotten) return;
  const self = turnTaker(found);
  const { turn, reminders = {}, children = [] } = self;
  for (const id of [turn?.run, ...Object.values(reminders)]) {
    if (id !== undefined) ctx.cancel(InvocationIdParser.fromString(id));
  }
  const courier = new Courier(ctx, settings.turnService);
  for (const one of [...(turn ? [turn] : []), ...self.inbox]) {
    const outcome = { state: 'stopped' as const, text: '', reason: 'it was forgotten' };
    if (one.caller) courier.reply(one.caller, url, one.id, outcome);
  }
  if (turn) courier.stopChildren(await new TurnStore(ctx).written());
  if (withChildren) for (const child of children) courier.forget(child, `forget ${url} ${child}`);
  const store = new HistoryStore(ctx, settings, stream);
  const left = await ctx.run('delete timeline', () => store.remove());
  const hasRow = settings.catalogUrl !== undefined;
  if (hasRow) sendRowRemoval(ctx, url, settings.rowService);
  const { requestId } = requestIdOf(ctx);
  const receipt: Receipt = {
    agent: url,
    at: await ctx.date.toJSON(),
    ...(requestId !== undefined && { requestId }),
    timeline: left ?? 'deleted',
    row: hasRow ? 'deleted' : 'none',
    children: withChildren ? children : [],
  };
  ctx.clearAll();
  ctx.set(ENTITY_STATE, { url, forgotten: receipt });
}
