import type { Contender, RunningContender } from './contender.ts';

export interface StartedContender {
  id: string;
  label: string;
  running: RunningContender;
}

export interface LineUp {
  contenders: StartedContender[];
  /** A sentence for each contender that is not there. */
  missing: string[];
  stop(): Promise<void>;
}

/** Starts those that can be, all before the same upstream. Where one fails to, all are stopped. */
export async function startLineUp(
  contenders: readonly Contender[],
  streamsUrl: string,
): Promise<LineUp> {
  const started: StartedContender[] = [];
  const missing: string[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ running }) => running.stop()));
  };
  try {
    for (const contender of contenders) {
      const reason = contender.missing();
      if (reason !== undefined) {
        missing.push(`${contender.label}: ${reason}`);
        continue;
      }
      const { id, label } = contender;
      started.push({ id, label, running: await contender.start(streamsUrl) });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { contenders: started, missing, stop };
}
