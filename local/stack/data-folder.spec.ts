import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AlreadyRunningError, isOpen, openDataFolder } from './data-folder.ts';

describe('openDataFolder', () => {
  let path: string;

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'gateway-data-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  it('makes credentials once, that only their owner can read', () => {
    const first = openDataFolder(path, { fresh: false });
    first.unlock();
    const second = openDataFolder(path, { fresh: true });
    second.unlock();
    expect([first.dropped, second.dropped]).toEqual([false, true]);

    expect(first.settings).toEqual({
      apiKey: expect.stringMatching(/^dev_[\w-]{43}$/),
      agentsKey: expect.stringMatching(/^dev_[\w-]{43}$/),
      consoleKey: expect.stringMatching(/^dev_[\w-]{43}$/),
      readTokenSecret: expect.stringMatching(/^[\w-]{43}$/),
      catalogSecret: expect.stringMatching(/^[\w-]{43}$/),
      upstreamToken: expect.stringMatching(/^[\w-]{43}$/),
      systemName: expect.stringMatching(/^local-[0-9a-f]{8}$/),
    });
    expect(second.settings).toEqual(first.settings);
    expect(statSync(join(path, 'settings.json')).mode & 0o777).toBe(0o600);
  });

  it('gives back the settings that were saved', () => {
    const first = openDataFolder(path, { fresh: false });
    first.save({ ...first.settings, ports: { agents: 9081 } });
    first.unlock();

    const second = openDataFolder(path, { fresh: false });
    second.unlock();

    expect(second.settings).toEqual({ ...first.settings, ports: { agents: 9081 } });
  });

  it('empties the parts of the system, and nothing else, where it is opened fresh', () => {
    openDataFolder(path, { fresh: false }).unlock();
    writeFileSync(join(path, 'history', 'stream'), 'x');
    writeFileSync(join(path, 'mine'), 'x');

    const folder = openDataFolder(path, { fresh: true });
    folder.unlock();

    expect(folder.dropped).toBe(true);
    expect(existsSync(join(folder.history, 'stream'))).toBe(false);
    expect(existsSync(folder.history)).toBe(true);
    expect(existsSync(join(path, 'mine'))).toBe(true);
  });

  it('is refused, and left as it is, while it is open elsewhere', () => {
    const open = openDataFolder(path, { fresh: false });
    writeFileSync(join(open.history, 'stream'), 'x');

    expect(() => openDataFolder(path, { fresh: true })).toThrow(AlreadyRunningError);

    expect(existsSync(join(open.history, 'stream'))).toBe(true);
    expect(isOpen(path)).toBe(true);
    open.unlock();
    expect(isOpen(path)).toBe(false);
  });
});
