import { createInterface, type Interface } from 'node:readline';
import type { CliContext } from '../cli-context.ts';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';

/** Asks on a terminal for the word that confirms. Throws a `CliError` for another answer, and where nobody can answer. */
export async function confirm(
  question: string,
  word: string,
  { stdin, notices, interrupted }: CliContext,
): Promise<void> {
  if (stdin.isTTY !== true) {
    throw usageError(
      'Nobody can be asked here, so nothing was sent. --yes forgets without a question.',
    );
  }
  notices.ask(`${question}\nType ${word} to confirm: `);
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    const typed = await firstLine(lines, interrupted);
    if (typed.trim() !== word) throw new CliError(EXIT.failed, 'Nothing was sent.');
  } finally {
    lines.close();
  }
}

/** Empty at the end of the input. */
function firstLine(lines: Interface, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true });
  });
}
