import type { Started } from '../started.ts';
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
}

/**
 * Starts those that can be, all before the same upstream, and leaves out who does not start or does
 * not pass the check.
 */
export async function startLineUp(
  started: Started,
  contenders: readonly Contender[],
  streamsUrl: string,
  check: (contender: StartedContender) => Promise<void> = () => Promise.resolve(),
): Promise<LineUp> {
  const lineUp: LineUp = { contenders: [], missing: [] };
  for (const contender of contenders) {
    const { id, label } = contender;
    try {
      const reason = contender.missing();
      if (reason !== undefined) throw new Error(reason);
      const running = started.add(await contender.start(streamsUrl));
      await check({ id, label, running });
      lineUp.contenders.push({ id, label, running });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      lineUp.missing.push(`${label}: ${reason}`);
    }
  }
  return lineUp;
}
