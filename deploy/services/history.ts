/** The Durable Streams server on the port that the gateway knows: HISTORY_DATA is its folder. */
import { startHistory } from '../../local/stack/history.ts';

const history = await startHistory({
  port: 4437,
  host: '0.0.0.0',
  dataDir: process.env.HISTORY_DATA,
});
process.stdout.write(`listening on ${history.url}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void history.stop().then(() => process.exit(0)));
}
