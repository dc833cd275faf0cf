import { once } from 'node:events';
import { EXIT } from './exit-codes.ts';
import { Notices } from './output/notices.ts';
import { watchReader } from './output/reader-watch.ts';
import { runCli } from './run-cli.ts';

/** The longest time for a command to end after a signal. */
const END_MS = 500;
const SIGTERM_CODE = 143;

const notices = new Notices(process.stderr);
const interrupted = new AbortController();

for (const [signal, code] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', SIGTERM_CODE],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    interrupted.abort(code);
    setTimeout(() => process.exit(code), END_MS);
  });
}

// A reader that stops, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed);
});
process.stderr.on('error', () => undefined);

// The clients warn of odd servers at length, with a stack; the first line says it.
// oxlint-disable-next-line no-console
console.warn = (message: unknown) => notices.say(String(message).split('\n')[0] ?? '');

const code = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  notices,
  interrupted: interrupted.signal,
  exitCode: EXIT.done,
  watchReader: () => watchReader(() => process.exit(EXIT.done)),
});
await Promise.all([process.stdout, process.stderr].map(flushed));
// Kept connections would keep the process alive for seconds.
process.exit(code);

async function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await once(stream, 'drain');
}
