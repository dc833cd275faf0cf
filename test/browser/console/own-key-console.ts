import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { LocalSystem } from '../../support/local-system.ts';

const MAIN = join(import.meta.dirname, '../../../local/console/main.ts');

/** Runs `npm run console -- --gateway URL` in a terminal and types the key. Checks that the terminal never shows it. */
export async function withOwnKeyConsole(
  { baseUrl, apiKey }: LocalSystem,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const command = `exec '${process.execPath}' '${MAIN}' --gateway ${baseUrl}`;
  // `script` gives it a terminal. It ends with its input.
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(terminal, 'close');
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    terminal.emit('shown');
  });
  const untilShown = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const match = pattern.exec(shown);
      if (match) return match[1] ?? match[0];
      await Promise.race([
        once(terminal, 'shown'),
        ended.then(() => Promise.reject(new Error(`The console ended: ${shown}`))),
      ]);
    }
  };
  // It may have ended.
  terminal.stdin.on('error', () => undefined);
  try {
    await untilShown(/API key for http\S+: /);
    terminal.stdin.write(`${apiKey}\r`);
    const url = await untilShown(/The console of http\S+: (http\S+)/);
    assert.ok(!shown.includes(apiKey), 'the terminal shows the key');
    await work(url);
  } finally {
    // Ctrl-C, as a user ends it.
    terminal.stdin.write('\u0003');
    await ended;
  }
}
