import { handlers, object, serde, type ObjectContext } from '@restatedev/restate-sdk';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

/** One run of a handler, and its input. */
export interface HandlerRun {
  handler: string;
  key: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A virtual object that takes any message on `spawn`, `wake` and `control`, and records its runs. */
export function recordingAgent(name: string) {
  const runs: HandlerRun[] = [];
  const changes = new Changes();
  const handler = (handlerName: string) =>
    handlers.object.exclusive(
      { accept: '*/*', input: serde.binary },
      async (context: ObjectContext, message: Uint8Array) => {
        const headers = Object.fromEntries(context.request().headers);
        const body = Buffer.from(message);
        runs.push({ handler: handlerName, key: context.key, headers, body });
        changes.tell();
      },
    );
  const service = object({
    name,
    handlers: { spawn: handler('spawn'), wake: handler('wake'), control: handler('control') },
  });
  const runsOf = (key: string): HandlerRun[] => runs.filter((run) => run.key === key);

  /** Resolves with the first runs for a key, once there are that many. */
  function waitForRuns(key: string, count: number): Promise<HandlerRun[]> {
    const there = changes.found(() => {
      const found = runsOf(key).slice(0, count);
      return found.length === count ? found : undefined;
    });
    return awaited(() => `${count} runs for ${key}, after ${runsOf(key).length}`, there);
  }

  async function firstRun(key: string): Promise<HandlerRun> {
    const [run] = await waitForRuns(key, 1);
    if (!run) throw new Error('there is no first run');
    return run;
  }

  return { service, runsOf, waitForRuns, firstRun };
}
