/** Blocks the whole process, as an overloaded machine does. Its due timers run before what has arrived is read. */
export function standStill(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}
