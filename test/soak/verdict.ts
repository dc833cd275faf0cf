import type { TimelineReader } from '../support/timeline-reader.ts';
import type { Commander } from './commanders.ts';
import type { EntityEvent } from './load.ts';

/**
 * Every accepted command has exactly one message and one reply on its entity's timeline; one that
 * was never accepted has none, or one of each, for its answer may have been lost on the way.
 */
export function commandFaults(
  commanders: readonly Commander[],
  entities: readonly string[],
  timelines: readonly EntityEvent[][],
): string[] {
  const effects = new Map<string, number>();
  for (const [index, entity] of entities.entries()) {
    for (const { kind, content } of timelines[index] ?? []) {
      const key = `${entity} ${kind} ${content?.[0]?.text}`;
      effects.set(key, (effects.get(key) ?? 0) + 1);
    }
  }
  return commanders.flatMap(({ sent }) =>
    sent.flatMap(({ entity, text, isAccepted }) =>
      ['message', 'reply'].flatMap((kind) => {
        const count = effects.get(`${entity} ${kind} ${text}`) ?? 0;
        const isRight = isAccepted ? count === 1 : count <= 1;
        return isRight ? [] : [`${text} (accepted: ${isAccepted}) has ${count} of "${kind}"`];
      }),
    ),
  );
}

/** Checks that a reader got the whole stream, in order, with each event once. */
export function readerFaults(
  name: string,
  { events, faults }: TimelineReader<EntityEvent>,
  timeline: readonly EntityEvent[],
): string[] {
  return [
    ...faults.gaps.map((gap) => `${name}: gap, ${gap}`),
    ...faults.repeats.map((repeat) => `${name}: repeat, ${repeat}`),
    ...(events.length === timeline.length
      ? []
      : [`${name}: ${events.length} events read, ${timeline.length} there`]),
  ];
}
