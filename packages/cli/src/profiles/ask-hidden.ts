import type { Readable } from 'node:stream';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';

type Terminal = Readable & { setRawMode?: (isRaw: boolean) => unknown };

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACE = /[\b\u007f]/;

/** Asks for a line on a terminal without showing the input. Rejects with the signal's reason. */
export async function askHidden(
  question: string,
  terminal: Terminal,
  notices: Notices,
  signal: AbortSignal,
): Promise<string> {
  if (!terminal.setRawMode) throw usageError('This terminal cannot hide what is typed.');
  // First: a key that is pasted as soon as the question is there would be shown.
  terminal.setRawMode(true);
  notices.ask(question);
  terminal.resume();
  try {
    return await readLine(terminal, signal);
  } finally {
    terminal.setRawMode(false);
    terminal.pause();
    notices.ask('\n');
  }
}

function readLine(terminal: Terminal, signal: AbortSignal): Promise<string> {
  let typed = '';
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      terminal.off('data', onData);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      stop();
      reject(signal.reason instanceof Error ? signal.reason : new Error('interrupted'));
    };
    const onData = (chunk: Buffer): void => {
      for (const character of chunk.toString('utf8')) {
        if (ENTER.test(character) || character === CTRL_D) {
          stop();
          return resolve(typed);
        }
        // A terminal in raw mode sends no signal for this key.
        if (character === CTRL_C) {
          stop();
          return reject(new CliError(EXIT.interrupted, 'Nothing was written.'));
        }
        typed = BACKSPACE.test(character) ? typed.slice(0, -1) : typed + character;
      }
    };
    terminal.on('data', onData);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
