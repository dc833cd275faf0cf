import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ShellSession } from './shell-session.ts';

describe('ShellSession', () => {
  let folder: string;
  let session: ShellSession;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'docs-shell-'));
    session = ShellSession.start(folder, { PATH: process.env.PATH });
  });
  afterEach(async () => {
    await session.stop();
    rmSync(folder, { recursive: true });
  });

  it('gives both outputs, and the exit code of the first command that failed', async () => {
    expect(await session.run('echo a\n(echo b >&2; exit 3)\nfalse\necho c\n')).toEqual({
      output: 'a\nb\nc\n',
      exitCode: 3,
    });
    expect(await session.run('false | cat\n')).toEqual({ output: '', exitCode: 1 });
    expect(await session.run('true\n')).toEqual({ output: '', exitCode: 0 });
  });

  it('fails for what is no command', async () => {
    expect(await session.run('if\n')).toMatchObject({ exitCode: 2 });
    expect(await session.run('no-such-command\n')).toMatchObject({ exitCode: 127 });
  });

  it('says what a command had said that was not done in time', async () => {
    await session.run('true\n');
    await expect(session.run('echo waits; sleep 60\n', { timeoutMs: 3_000 })).rejects.toThrow(
      'Not done after 3000 ms. So far:\nwaits\n',
    );
  });
});
