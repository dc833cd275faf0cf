import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setArchiveTimes } from './archive-times.ts';

describe('setArchiveTimes', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'archive-times-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** An archive of two files of that time. */
  function archive(name: string, flags: string, time: number): string {
    writeFileSync(join(folder, 'a'), 'x'.repeat(513));
    writeFileSync(join(folder, 'b'), '');
    for (const file of ['a', 'b']) utimesSync(join(folder, file), time, time);
    execFileSync('tar', ['--format=ustar', flags, join(folder, name), '-C', folder, 'a', 'b']);
    return join(folder, name);
  }

  it.each(['-cf', '-czf'])('makes equal archives of files of other times (tar %s)', (flags) => {
    const [one, other] = [archive('one', flags, 1e9), archive('other', flags, 1.5e9)];
    for (const path of [one, other]) setArchiveTimes(path, 1_700_000_000);
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
    execFileSync('tar', ['-xf', one, '-C', folder]);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('x'.repeat(513));
    expect(statSync(join(folder, 'b')).mtimeMs).toBe(1_700_000_000_000);
  });

  it('throws for what is no archive, and leaves it as it is', () => {
    const path = join(folder, 'text');
    writeFileSync(path, 'no archive '.repeat(100));
    expect(() => setArchiveTimes(path, 1)).toThrow(/is no archive that can be read/);
    expect(readFileSync(path, 'utf8')).toBe('no archive '.repeat(100));
  });
});
