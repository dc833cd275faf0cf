import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat, mkdir, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stateOf } from '../../test/support/state-of.ts';
import { until } from '../../test/support/until.ts';
import { createLogger } from '../platform/log/create-logger.ts';
import { AuditFile } from './audit-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-audit-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const END_TIMEOUT_MS = 30_000;

function opened(path: string) {
  const told: string[] = [];
  const happened = new EventEmitter();
  const tell = (what: string): void => {
    told.push(what);
    happened.emit(what.split(' ')[0] ?? '');
  };
  const log = createLogger('info', {
    write: (line: string) => {
      const { err, droppedLines, waitingBytes } = JSON.parse(line) as {
        err?: { code: string };
        droppedLines?: number;
        waitingBytes?: number;
      };
      if (err) tell(`failure ${err.code}`);
      else if (waitingBytes) tell(`lost ${waitingBytes}`);
      else tell(droppedLines ? `room ${droppedLines}` : 'recovery');
    },
  });
  const file = new AuditFile(path, log);
  return { file, told, happened };
}

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

describe('AuditFile', () => {
  it('appends to what the file has, for its owner and group alone', async () => {
    const path = join(folder, 'append');
    for (const line of ['one\n', 'two\n']) {
      const { file, told } = opened(path);
      file.write(line);
      await file.end(END_TIMEOUT_MS);
      expect(told).toEqual([]);
    }
    expect(await textOf(path)).toBe('one\ntwo\n');
    expect((await stat(path)).mode & 0o777 & ~0o640).toBe(0);
  });

  it.each(['is moved away', 'is removed'])('begins the file again when it %s', async (how) => {
    const path = join(folder, how);
    const { file, told } = opened(path);
    file.write('one\n');
    await until('the first line', async () => (await textOf(path)) === 'one\n');
    if (how === 'is removed') await unlink(path);
    else await rename(path, `${path}.1`);
    file.write('two\n');
    await file.end(END_TIMEOUT_MS);
    expect(await textOf(path)).toBe('two\n');
    if (how === 'is moved away') expect(await textOf(`${path}.1`)).toBe('one\n');
    expect(told).toEqual([]);
  });

  it('loses no line of a rotation under load, and writes each once', async () => {
    const path = join(folder, 'load');
    const { file } = opened(path);
    const rotated: string[] = [];
    for (let i = 0; i < 3_000; i++) {
      file.write(`line ${i}\n`);
      if (i % 300 === 299) {
        await until('the file', () => existsSync(path));
        rotated.push(`${path}.${i}`);
        await rename(path, `${path}.${i}`);
      }
      if (i % 7 === 0) await new Promise(setImmediate);
    }
    await file.end(END_TIMEOUT_MS);
    const all = (await Promise.all([...rotated, path].map(textOf))).join('');
    expect(all).toBe(Array.from({ length: 3_000 }, (_, i) => `line ${i}\n`).join(''));
  });

  it('tells once that its path cannot be opened, keeps the lines, and recovers', async () => {
    const inner = join(folder, 'inner');
    await mkdir(inner);
    const path = join(inner, 'audit.log');
    const { file, told, happened } = opened(path);
    await rename(inner, `${inner}.1`);
    const failure = once(happened, 'failure');
    file.write('one\n');
    await failure;
    expect(stateOf(file, 'gateway_audit_file_good')).toBe(0);
    file.write('two\n');
    const recovery = once(happened, 'recovery');
    await mkdir(inner);
    await recovery;
    expect(stateOf(file, 'gateway_audit_file_good')).toBe(1);
    await file.end(END_TIMEOUT_MS);
    expect(await textOf(path)).toBe('one\ntwo\n');
    expect(told).toEqual(['failure ENOENT', 'recovery']);
  });

  it('tells of a full disk, keeps the lines, and writes them when there is a disk with room', async () => {
    const path = join(folder, 'full');
    await symlink('/dev/full', path);
    const { file, told, happened } = opened(path);
    const failure = once(happened, 'failure');
    file.write('one\n');
    await failure;
    expect(stateOf(file, 'gateway_audit_file_good')).toBe(0);
    expect(file.waitingBytes).toBe(4);
    const recovery = once(happened, 'recovery');
    await unlink(path);
    await recovery;
    await file.end(END_TIMEOUT_MS);
    expect(await textOf(path)).toBe('one\n');
    expect(told).toEqual(['failure ENOSPC', 'recovery']);
  });

  it('counts the lines beyond 4 MiB that wait for a full disk, and says so when there is room', async () => {
    const path = join(folder, 'beyond');
    await symlink('/dev/full', path);
    const { file, told, happened } = opened(path);
    const line = `${'x'.repeat(1_023)}\n`;
    for (let i = 0; i < 5_000; i++) file.write(line);
    const dropped = Number(await stateOf(file, 'gateway_audit_lines_dropped_total'));
    expect(dropped).toBeGreaterThan(900);
    const room = once(happened, 'room');
    await unlink(path);
    await room;
    await file.end(END_TIMEOUT_MS);
    const lines = (await textOf(path)).split('\n').slice(0, -1);
    expect(lines.filter((each) => `${each}\n` === line)).toHaveLength(5_000 - dropped);
    expect(lines.at(-1)).toContain(`"droppedLines":${dropped},`);
    expect(told).toContain(`room ${dropped}`);
  });

  it('throws for a path that cannot be opened', () => {
    expect(() => opened(join(folder, 'none', 'audit.log'))).toThrow('ENOENT');
    expect(() => opened(folder)).toThrow('EISDIR');
  });
});
