/** How often the clock is read. */
const TICK_MS = 100;
/** A longer time than this between two readings is a pause of the process. */
const MAX_STEP_MS = 500;

let ranMs = 1;
let lookedAtMs: number | undefined;

/**
 * Time in which this process ran, in milliseconds. Only differences have a meaning. A pause hardly counts: a stop by a
 * signal, a machine that sleeps or is overloaded, a long garbage collection. After a pause Node runs its due timers before
 * it reads its sockets, so a peer would seem late although its data has arrived.
 */
export function awakeMs(): number {
  const nowMs = performance.now();
  if (lookedAtMs === undefined) setInterval(awakeMs, TICK_MS).unref();
  ranMs += Math.min(nowMs - (lookedAtMs ?? nowMs), MAX_STEP_MS);
  lookedAtMs = nowMs;
  return ranMs;
}
