import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_FILE_BYTES, readSmallFile, readSmallFileSync } from './small-file.ts';

describe.each([
  ['while the gateway runs', readSmallFile],
  ['at the start', async (path: string) => readSmallFileSync(path)],
])('the text of a small file, read %s', (_, read) => {
  let folder: string;
  let path: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-small-file-'));
    path = join(folder, 'file');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([0, 1, 65_536, 65_537, MAX_FILE_BYTES])('may have %d bytes', async (bytes) => {
    await writeFile(path, 'x'.repeat(bytes));
    expect((await read(path)).length).toBe(bytes);
  });

  it('is UTF-8, without a byte-order mark', async () => {
    await writeFile(path, '\uFEFFschlüssel');
    expect(await read(path)).toBe('schlüssel');
    for (const other of [Buffer.from('schlüssel', 'utf16le'), Buffer.from('schlüssel', 'latin1')]) {
      await writeFile(path, other);
      await expect(read(path)).rejects.toMatchObject({ code: 'not UTF-8 text' });
    }
  });

  // A line of 50 MB was taken for a key.
  it('is refused if it has more, and only its beginning is read', async () => {
    const tooLarge = { code: 'larger than 1 MiB' };
    await writeFile(path, 'x'.repeat(MAX_FILE_BYTES + 1));
    await expect(read(path)).rejects.toMatchObject(tooLarge);
    // No memory holds a terabyte.
    await truncate(path, 2 ** 40);
    await expect(read(path)).rejects.toMatchObject(tooLarge);
  });

  // To open a named pipe waited for a writer for good: at the start deaf to SIGTERM, and while the gateway ran with a list
  // that never changed again. A pipe that has a writer was empty at the second reading, so that no key was left.
  it('is refused of anything but a regular file, without waiting', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const other of [pipe, folder, '/dev/zero']) {
      await expect(read(other)).rejects.toMatchObject({ code: 'not a regular file' });
    }
  });

  it('cannot be had where there is none', async () => {
    await expect(read(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
