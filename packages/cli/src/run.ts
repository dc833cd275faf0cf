import { EXIT } from './exit-codes.ts';
import { Notices } from './output/notices.ts';
import { watchReader } from './output/reader-watch.ts';
import { flushed } from './output/write.ts';
import { runCli } from './run-cli.ts';

/** The longest time for a command to end after a signal. */
const END_MS = 500;
const SIGTERM_CODE = 143;

const notices = new Notices(process.stderr);
const interrupted = new AbortController();
let endsWithReader = false;
let isBroken = false;
/** The code that the end of the output decides, whatever the command says. */
let codeOfOutput: number | undefined;

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

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A file reports each write that fails; a pipe only the first.
  if (isBroken) return;
  isBroken = true;
  if (code !== 'EPIPE') {
    const words = code === 'ENOSPC' ? 'no space is left' : message;
    notices.say(`The output cannot be written: ${words} (${code}).`);
    codeOfOutput = EXIT.failed;
  } else if (endsWithReader) {
    // A reader that stops, such as `head`, is no failure.
    codeOfOutput = EXIT.done;
  }
  // Any other command has work to do besides its output, and ends with its own code.
  if (codeOfOutput !== undefined) void end(codeOfOutput);
});
process.stderr.on('error', () => undefined);

// The clients warn of odd servers at length, with a stack; the first line says it.
// oxlint-disable-next-line no-console
console.warn = (message: unknown) => notices.say(String(message).split('\n')[0] ?? '');

// Node would end with 13, or with 0, while a command still waits for something that cannot come.
process.on('beforeExit', () => {
  notices.say('This is a fault of the program itself. It waits for nothing.');
  void end(EXIT.failed);
});

void runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  notices,
  interrupted: interrupted.signal,
  exitCode: EXIT.done,
  endWithReader: () => {
    endsWithReader = true;
    if (isBroken) void end(EXIT.done);
  },
  watchReader: () => {
    endsWithReader = true;
    watchReader(() => process.exit(EXIT.done));
  },
}).then(end);

async function end(code: number): Promise<void> {
  const streams = isBroken ? [process.stderr] : [process.stdout, process.stderr];
  await Promise.all(streams.map(flushed));
  // The `error` event of the last write comes after its callback.
  await new Promise(setImmediate);
  // Kept connections would keep the process alive for seconds.
  process.exit(codeOfOutput ?? code);
}
