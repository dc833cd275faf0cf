import { join } from 'node:path';
import { startProcess, untilReady } from '../../local/stack/process.ts';

const START_TIMEOUT_MS = 20_000;
const MAIN = join(import.meta.dirname, 'trace-sink-main.ts');

/** Where spans go, in a process of its own. */
export interface TraceSink {
  url: string;
  /** How many bytes of spans it got so far. */
  bytes(): Promise<number>;
  stop(): Promise<void>;
}

export async function startTraceSink(): Promise<TraceSink> {
  const sink = startProcess({
    name: 'the sink of traces',
    command: process.execPath,
    args: [MAIN],
    env: { PATH: process.env.PATH },
  });
  const url = await untilReady(sink, START_TIMEOUT_MS, () =>
    sink.waitForLine((text) => text.startsWith('http://')),
  );
  return {
    url,
    bytes: async () => ((await (await fetch(url)).json()) as { bytes: number }).bytes,
    stop: () => sink.kill(),
  };
}
