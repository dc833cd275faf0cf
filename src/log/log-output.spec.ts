import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, 'log-output.ts')).href;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-log-output-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a program of its own has written to its standard output when it has ended. */
async function outputOf(name: string, program: string): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  const start = `import { LogOutput } from '${MODULE}';\nconst output = new LogOutput();\n`;
  await writeFile(path, start + program);
  const child = spawn(process.execPath, ['--no-warnings', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return text(child.stdout);
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

describe('LogOutput', () => {
  it('writes every line once and in order, in one turn and in many', async () => {
    const program = `
      for (let i = 0; i < 20000; i++) {
        output.write('line ' + i + '\\n');
        if (i % 7 === 0) await new Promise(setImmediate);
      }
      await output.end();`;
    expect(await outputOf('turns', program)).toBe(numbered(20_000));
  });

  it('writes lines of any size and any characters', async () => {
    const program = `
      output.write('ä'.repeat(100000) + '\\n');
      output.write('\\u{1F9E9}'.repeat(30000) + '\\n');
      output.write('end\\n');
      await output.end();`;
    const expected = `${'ä'.repeat(100_000)}\n${'\u{1F9E9}'.repeat(30_000)}\nend\n`;
    expect((await outputOf('characters', program)) === expected).toBe(true);
  });

  it('loses nothing when the process exits at once', async () => {
    const program = `
      for (let i = 0; i < 3000; i++) output.write('line ' + i + '\\n');
      process.exit(1);`;
    expect(await outputOf('exit', program)).toBe(numbered(3_000));
  });

  it('writes before it returns where that is asked for', async () => {
    const program = `
      output.write('line 0\\n');
      output.flushSync();
      process.kill(process.pid, 'SIGKILL');`;
    expect(await outputOf('flush', program)).toBe(numbered(1));
  });

  it('takes lines behind its end without a word', async () => {
    const program = `
      output.write('line 0\\n');
      await output.end();
      output.write('too late\\n');`;
    expect(await outputOf('end', program)).toBe(numbered(1));
  });
});
