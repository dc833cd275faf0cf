import { startNodeProgram } from './node-program.ts';

/** Receives the spans, in a process of its own. */
export interface TraceSink {
  url: string;
  /** How many bytes of spans it got so far. */
  bytes(): Promise<number>;
  stop(): Promise<void>;
}

export async function startTraceSink(): Promise<TraceSink> {
  const { process: sink, line: url } = await startNodeProgram({
    name: 'the sink of traces',
    main: 'trace-sink-main.ts',
    ready: 'http://',
  });
  return {
    url,
    bytes: async () => ((await (await fetch(url)).json()) as { bytes: number }).bytes,
    stop: () => sink.kill(),
  };
}
