import { EventEmitter, once } from 'node:events';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../log/create-logger.ts';
import { SecretList } from './secret-list.ts';
import { parseReadTokenSecrets } from '../../contract/secret-lists.ts';
import { readSmallFile } from './small-file.ts';

const INLINE = 'the-secret-of-the-variable-0123456789';
const OLD = 'the-old-secret-of-the-file-0123456789';
const NEW = 'the-new-secret-of-the-file-0123456789';
/** Longer than a busy machine takes for a small file. */
const LONG_MS = 60_000;
const SETTING = 'GATEWAY_READ_TOKEN_SECRETS_FILE';

describe('SecretList', () => {
  let folder: string;
  let file: string;
  let list: SecretList<Buffer>;
  let reading: NodeJS.Timeout;
  /** A file system that does not answer before this. */
  let answers: Promise<void>;
  let open: (limit?: { timeoutMs: number }) => SecretList<Buffer>;
  let reread: () => Promise<void>;
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
    const inline = [Buffer.from(INLINE)];
    const parse = (text: string) => parseReadTokenSecrets(text, 'file');
    const logger = createLogger('info', sink);
    answers = Promise.resolve();
    const readText = () => answers.then(() => readSmallFile(file));
    open = (limit) => {
      const opened = new SecretList(SETTING, inline, { readText, parse, ...limit });
      expect(opened.load(OLD)).toEqual([]);
      return opened;
    };
    list = open({ timeoutMs: LONG_MS });
    reread = () => list.reread(logger);
    reading = setInterval(() => void reread(), 5);
  });
  afterEach(async () => {
    clearInterval(reading);
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
    ['nothing', ' \n', 'must hold at least one entry, one a line'],
    ['comments alone', '# nothing here\n#\n', 'must hold at least one entry, one a line'],
    [
      'more than a megabyte',
      `${NEW}\n#${'x'.repeat(1_048_576)}`,
      'cannot be read (larger than 1 MiB)',
    ],
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

  it('has what the file holds once it is read again', async () => {
    await replaceFile(NEW);
    await reread();
    expect(entries()).toEqual([INLINE, NEW]);
    expect(list.version).toBe(1);
    await reread();
    expect(list.version).toBe(1);
  });

  // Two reads at once could end in the other order, and the older content stayed.
  it('has the last content of the file, however many reads are asked for', async () => {
    for (let round = 0; round < 50; round++) {
      await replaceFile(`${NEW}-${round}`);
      await Promise.all([reread(), reread(), reread()]);
      // The first may have begun before the file was there.
      await reread();
      expect(entries()).toEqual([INLINE, `${NEW}-${round}`]);
    }
  });

  // A network file system that hangs held up whoever waited for a read.
  it('keeps what it has where the file does not answer', async () => {
    list = open();
    const { promise, resolve } = Promise.withResolvers<void>();
    answers = promise;
    const complaint = nextLine();
    await Promise.all([reread(), reread()]);
    expect(await complaint).toMatchObject({
      level: 'error',
      message: `${SETTING} cannot be read in 1000 ms; the list in use is kept`,
    });
    expect(entries()).toEqual([INLINE, OLD]);

    const reload = nextLine();
    await replaceFile(NEW);
    resolve();
    expect(await reload).toMatchObject({ message: 'secrets reloaded' });
    expect(entries()).toEqual([INLINE, NEW]);
  });

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
    expect(await reload).toMatchObject({ message: 'secrets reloaded', entries: 1 });
    expect(entries()).toEqual([INLINE, OLD]);
    // Every open read was looked at again, although nothing had changed for it.
    expect(list.version).toBe(0);
  });
});
