import type { Readable } from 'node:stream';

type Input = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

const CTRL_D = '\u0004';
const ENDS = ['\r', '\n', CTRL_D];
const CTRL_C = '\u0003';
const BACKSPACES = ['\b', '\u007f'];

/** Reads a line: from a terminal without showing it, or from a pipe. Rejects after Ctrl-C. */
export async function askKey(
  question: string,
  input: Input,
  say: (text: string) => void,
): Promise<string> {
  const isTerminal = input.isTTY === true;
  // First: a key that is pasted as soon as the question is there would be shown.
  if (isTerminal) input.setRawMode?.(true);
  if (isTerminal) say(question);
  try {
    return await readLine(input);
  } finally {
    if (isTerminal) input.setRawMode?.(false);
    if (isTerminal) say('\n');
    input.pause();
  }
}

function readLine(input: Input): Promise<string> {
  let typed = '';
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      input.off('data', onData);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      for (const character of chunk.toString('utf8')) {
        if (ENDS.includes(character)) return finish(() => resolve(typed));
        // A terminal in raw mode sends no signal for this key.
        if (character === CTRL_C) return finish(() => reject(new Error('No key was given.')));
        typed = BACKSPACES.includes(character) ? typed.slice(0, -1) : typed + character;
      }
    };
    input.on('data', onData);
    input.once('end', () => finish(() => resolve(typed)));
  });
}
