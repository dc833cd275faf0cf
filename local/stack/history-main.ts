/** The history store as a process: HISTORY_PORT, HISTORY_DATA (a folder; without it, in memory), HISTORY_TOKEN (what callers need). */
import { startHistory } from './history.ts';

const history = await startHistory({
  port: Number(process.env.HISTORY_PORT ?? 0),
  dataDir: process.env.HISTORY_DATA,
  credential: process.env.HISTORY_TOKEN,
});
console.log(`listening on ${history.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void history.stop().then(() => process.exit(0));
  });
}
