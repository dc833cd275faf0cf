import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

/** A history store in a process of its own, so that it does not slow down the clients of a test. */
export interface ChildStore {
  url: string;
  pid: number;
  /** Requests that wait there now, all answers sent. */
  readonly waiting: number;
  /** Connections that it has ever taken. */
  readonly accepted: number;
  /** Has everybody who waits answered, with so many bytes where the store has no size of its own for them. */
  answer(bytes?: number): void;
  /** Resolves once so many wait, or more. */
  untilWaiting(count: number): Promise<void>;
  /** Resolves once so many requests have come that wait, or waited. */
  untilAsked(count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The store's messages: its port, and how many reads wait whenever that changes, after how many answers to all who waited.
 */
export type Report =
  { port: number } | { waiting: number; answers: number; accepted?: number; asked?: number };

/** Starts a program of this folder, on `http:` or `https:` by its first argument. */
export async function startChildStore(
  program: string,
  protocol: 'http' | 'https' = 'http',
): Promise<ChildStore> {
  const child = fork(join(import.meta.dirname, program), [protocol], { stdio: 'inherit' });
  const changes = new Changes();
  let sent = 0;
  let waiting = 0;
  let accepted = 0;
  let asked = 0;
  const [first] = (await once(child, 'message')) as [{ port: number }];
  child.on('message', (report: Report) => {
    if (!('waiting' in report)) return;
    ({ accepted = accepted, asked = asked } = report);
    // Those that waited before an answer which is on its way are answered before anybody looks.
    waiting = report.answers === sent ? report.waiting : 0;
    changes.tell();
  });
  return {
    url: `${protocol}://localhost:${first.port}`,
    pid: child.pid ?? 0,
    get waiting() {
      return waiting;
    },
    get accepted() {
      return accepted;
    },
    answer: (bytes = 0) => {
      sent++;
      waiting = 0;
      child.send({ bytes });
    },
    untilWaiting: (count) =>
      awaited(
        () => `${waiting} of ${count} reads wait at the store`,
        changes.until(() => waiting >= count),
      ),
    untilAsked: (count) =>
      awaited(
        () => `${asked} of ${count} reads came to the store`,
        changes.until(() => asked >= count),
      ),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
