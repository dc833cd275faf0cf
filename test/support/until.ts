import { setTimeout as sleep } from 'node:timers/promises';

/** Without a pause, whoever waits takes the processor from what it waits for. */
const PAUSE_MS = 5;
/** Longer than a busy machine takes, and shorter than the time of a test: so the error says what did not happen. */
export const PATIENCE_MS = 60_000;

/** Looks every 5 ms, or after each `next`, until it holds. After a minute it rejects with an error that names `what` it waited for. */
export async function until(
  what: string | (() => string),
  holds: () => unknown,
  next: () => Promise<unknown> = () => sleep(PAUSE_MS),
): Promise<void> {
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw inVain(what);
    await next();
  }
}

/** Settles as the promise does. After a minute it rejects with an error that names `what` it waited for. */
export function awaited<T>(what: string | (() => string), promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(inVain(what));
    const timer = setTimeout(giveUp, PATIENCE_MS).unref();
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function inVain(what: string | (() => string)): Error {
  const text = typeof what === 'string' ? what : what();
  return new Error(`waited ${PATIENCE_MS / 1_000} s in vain: ${text}`);
}
