import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, 'standard-output.ts')).href;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-standard-output-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Kind = 'a pipe' | 'a file' | 'a full device';

/** What a program of its own has written to its standard output when it has ended. */
async function outputOf(kind: Kind, name: string, program: string): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  const start = `import { StandardOutput } from '${MODULE}';\nconst output = new StandardOutput('info');\n`;
  await writeFile(path, start + program);
  const file = await open(kind === 'a full device' ? '/dev/full' : join(folder, 'output'), 'w');
  const child = spawn(process.execPath, ['--no-warnings', path], {
    stdio: ['ignore', kind === 'a pipe' ? 'pipe' : file.fd, 'pipe'],
  });
  const [piped, words] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
  ]);
  await file.close();
  if (kind === 'a pipe') return piped;
  return kind === 'a file' ? readFile(join(folder, 'output'), 'utf8') : words;
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

describe.each(['a pipe', 'a file'] as const)('StandardOutput to %s', (kind) => {
  it('writes every line once and in order, in one turn and in many', async () => {
    const program = `
      for (let i = 0; i < 20000; i++) {
        output.write('line ' + i + '\\n');
        if (i % 7 === 0) await new Promise(setImmediate);
      }
      await output.end(30000);`;
    expect(await outputOf(kind, 'turns', program)).toBe(numbered(20_000));
  });

  it('writes lines of any size and any characters', async () => {
    const program = `
      output.write('ä'.repeat(100000) + '\\n');
      output.write('\\u{1F9E9}'.repeat(30000) + '\\n');
      output.write('end\\n');
      await output.end(30000);`;
    const expected = `${'ä'.repeat(100_000)}\n${'\u{1F9E9}'.repeat(30_000)}\nend\n`;
    expect((await outputOf(kind, 'characters', program)) === expected).toBe(true);
  });

  it('loses nothing when the process exits at once', async () => {
    const program = `
      for (let i = 0; i < 3000; i++) output.write('line ' + i + '\\n');
      process.exit(1);`;
    expect(await outputOf(kind, 'exit', program)).toBe(numbered(3_000));
  });

  it('writes before it returns where that is asked for', async () => {
    const program = `
      output.write('line 0\\n');
      output.flushSync();
      process.kill(process.pid, 'SIGKILL');`;
    expect(await outputOf(kind, 'flush', program)).toBe(numbered(1));
  });

  it('takes lines behind its end without a word', async () => {
    const program = `
      output.write('line 0\\n');
      await output.end(30000);
      output.write('too late\\n');`;
    expect(await outputOf(kind, 'end', program)).toBe(numbered(1));
  });
});

describe('StandardOutput to what takes nothing', () => {
  // An error of the disk was thrown, and then tried again for good by the only thread.
  it('drops lines beyond 4 MiB, counts them, and lets the process end', async () => {
    const program = `
      const line = 'x'.repeat(1023) + '\\n';
      for (let i = 0; i < 5000; i++) {
        output.write(line);
        if (i % 100 === 0) await new Promise(setImmediate);
      }
      output.flushSync();
      await output.end(10);
      console.error(output.droppedLines, output.waitingBytes);
      process.exit(0);`;
    const lines = 4_194_304 / 1_024;
    expect(await outputOf('a full device', 'full', program)).toBe(
      `${5_000 - lines} ${lines * 1_024}\n`,
    );
  });
});
