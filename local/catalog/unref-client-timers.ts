/**
 * Imported for its effect, in specs only. `@electric-sql/client` 1.5 sets a timer of up to 60 s
 * (`UpToDateTracker.scheduleSave`) that nothing outside it can clear: a process that used the client
 * stays alive that long, and Jest reports a leak. A timer this long must not hold a process.
 */
const LONGEST_HELD_TIMER_MS = 30_000;

globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
  apply(target, thisArgument, args: Parameters<typeof setTimeout>) {
    const timer: unknown = Reflect.apply(target, thisArgument, args);
    const isTimer = typeof timer === 'object' && timer !== null && 'unref' in timer;
    if (isTimer && Number(args[1]) > LONGEST_HELD_TIMER_MS) (timer as NodeJS.Timeout).unref();
    return timer;
  },
});
