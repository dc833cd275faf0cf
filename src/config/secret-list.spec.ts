import { EventEmitter, once } from 'node:events';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../log/create-logger.ts';
import { SecretList } from './secret-list.ts';
import { parseReadTokenSecrets } from './secret-lists.ts';

const INLINE = 'the-secret-of-the-variable-0123456789';
const OLD = 'the-old-secret-of-the-file-0123456789';
const NEW = 'the-new-secret-of-the-file-0123456789';
const SETTING = 'GATEWAY_READ_TOKEN_SECRETS_FILE';

describe('SecretList', () => {
  let folder: string;
  let file: string;
  let list: SecretList<Buffer>;
  let log: EventEmitter<{ line: [Record<string, unknown>] }>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-secrets-'));
    file = join(folder, 'secrets');
    await writeFile(file, OLD);
    log = new EventEmitter();
    const sink = new Writable({
      write: (line: Buffer, _encoding, done) => {
        log.emit('line', JSON.parse(line.toString()) as Record<string, unknown>);
        done();
      },
    });
    const source = { inline: [Buffer.from(INLINE)], file };
    const logger = createLogger('info', sink);
    list = await SecretList.open(SETTING, source, parseReadTokenSecrets, logger, 5);
  });
  afterEach(async () => {
    list.onModuleDestroy();
    await rm(folder, { recursive: true });
  });

  /** In one step: a read between the emptying and the writing would see something else. */
  const replaceFile = async (text: string) => {
    await writeFile(`${file}.next`, text);
    await rename(`${file}.next`, file);
  };
  const entries = () => list.entries.map(String);
  const nextLine = async () => (await once(log, 'line'))[0] as Record<string, unknown>;

  it('holds the entries of the variable before those of the file', () => {
    expect(entries()).toEqual([INLINE, OLD]);
  });

  it('takes up what is written to the file', async () => {
    const line = nextLine();
    await replaceFile(`${NEW}\n${OLD}\n`);

    expect(await line).toMatchObject({
      level: 'info',
      setting: SETTING,
      entries: 2,
      message: 'secrets reloaded',
    });
    expect(entries()).toEqual([INLINE, NEW, OLD]);
  });

  // A Kubernetes secret mount changes no file: it swaps the link of the folder above it.
  it('takes up a file that comes by another symbolic link', async () => {
    const line = nextLine();
    await writeFile(join(folder, 'new'), NEW);
    await symlink('new', join(folder, 'link'));
    await rename(join(folder, 'link'), file);

    await line;
    expect(entries()).toEqual([INLINE, NEW]);
  });

  it.each([
    ['a bad entry', 'too-short', 'line 1 must have at least 32 bytes'],
    ['nothing', ' \n', 'holds no entry'],
  ])(
    'keeps what it has when the file holds %s, and takes up the next',
    async (_, text, problem) => {
      const complaint = nextLine();
      await replaceFile(text);
      expect(await complaint).toMatchObject({
        level: 'error',
        message: `${SETTING} ${problem}; the list in use is kept`,
      });
      expect(entries()).toEqual([INLINE, OLD]);

      // The complaint comes once: the next line is that of the mended file.
      const reload = nextLine();
      await replaceFile(NEW);
      expect(await reload).toMatchObject({ message: 'secrets reloaded' });
      expect(entries()).toEqual([INLINE, NEW]);
    },
  );

  it('keeps what it has when the file goes, and takes it up when it is back', async () => {
    const complaint = nextLine();
    await rm(file);
    expect(await complaint).toMatchObject({
      level: 'error',
      message: `${SETTING} cannot be read (ENOENT); the list in use is kept`,
    });
    expect(entries()).toEqual([INLINE, OLD]);

    const reload = nextLine();
    await replaceFile(OLD);
    expect(await reload).toMatchObject({ message: 'secrets reloaded' });
    expect(entries()).toEqual([INLINE, OLD]);
  });
});
