import {
  startHistory as start,
  type HistoryOptions,
  type RunningHistory,
} from '../../local/stack/history.ts';
import { addRealUpstream } from './contract/real-upstreams.ts';

export type { HistoryOptions, RunningHistory };

/** A real Durable Streams server for one test file. Without options it is in memory and on a free port. */
export async function startHistory(options?: HistoryOptions): Promise<RunningHistory> {
  const history = await start(options);
  addRealUpstream(history.url);
  return history;
}
