/** A real Durable Streams server for one test file: in memory, on a free port, where nothing is asked. */
export { startHistory } from '../../local/stack/history.ts';
export type { HistoryOptions, RunningHistory } from '../../local/stack/history.ts';
