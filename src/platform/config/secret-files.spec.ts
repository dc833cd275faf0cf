import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { SecretFiles } from './secret-files.ts';

const logger = pino({ level: 'silent' });

/** A list whose reads end when the test says so, or at once. */
class ControlledList {
  readonly setting = 'GATEWAY_API_KEYS_FILE';
  readonly hasFile: boolean = true;
  readonly isFileGood = true;
  version = 0;
  began = 0;
  isHeld = false;
  private readonly pending: (() => void)[] = [];

  reread(): Promise<void> {
    this.began++;
    return this.isHeld ? new Promise((resolve) => this.pending.push(resolve)) : Promise.resolve();
  }

  end(): void {
    for (const resolve of this.pending.splice(0)) resolve();
  }
}

describe('SecretFiles', () => {
  let list: ControlledList;
  let files: SecretFiles;
  beforeEach(() => {
    jest.useFakeTimers();
    list = new ControlledList();
    files = new SecretFiles(logger);
    for (const each of [list, new ControlledList()]) files.add(each, { isOfCallers: true });
  });
  afterEach(() => void jest.useRealTimers());

  /** How many of the reads that are asked for are over. */
  function countedAgain(): { over: number } {
    const count = { over: 0 };
    void files.readAgain().then(() => count.over++);
    return count;
  }
  const pass = (ms = 0) => jest.advanceTimersByTimeAsync(ms);

  it('are read at once for the first who asks, and once for all who ask together', async () => {
    await Promise.all([files.readAgain(), files.readAgain(), files.readAgain()]);
    expect(list.began).toBe(1);
  });

  it('are read ten times a second at most, however many ask', async () => {
    for (let ms = 0; ms < 1_000; ms++) {
      void files.readAgain();
      void files.readAgain();
      await pass(1);
    }
    expect(list.began).toBe(9);
  });

  // A read under way may have passed the place of a new key already.
  it('are read again for who asks during a read', async () => {
    list.isHeld = true;
    const first = countedAgain();
    await pass();
    const second = countedAgain();
    await pass(1_000);
    expect([first.over, second.over, list.began]).toEqual([0, 0, 1]);
    list.end();
    await pass();
    expect([first.over, second.over, list.began]).toEqual([1, 0, 2]);
    list.end();
    await pass();
    expect(second.over).toBe(1);
  });

  it('are the more versions, the more they change', () => {
    const before = files.version;
    list.version++;
    expect(files.version).toBe(before + 1);
  });

  it('are none where no setting names one: nobody waits', async () => {
    const none = new ControlledList();
    Object.assign(none, { hasFile: false });
    const withNone = new SecretFiles(logger);
    withNone.add(none, { isOfCallers: true });
    await withNone.readAgain();
    await new SecretFiles(logger).readAgain();
    expect(none.began).toBe(0);
  });

  // A disk that hung delayed every 401 by a second, though the file on it was an upstream's.
  it('are read for a refusal where they are of callers, and nobody waits for an upstream’s', async () => {
    const ofUpstream = new ControlledList();
    ofUpstream.isHeld = true;
    files.add(ofUpstream);
    const { version } = files;
    await files.readAgain();
    ofUpstream.version++;
    expect([list.began, ofUpstream.began, files.version]).toEqual([1, 0, version]);
    await pass(1_000);
    expect([list.began, ofUpstream.began]).toEqual([2, 1]);
    const again = countedAgain();
    await pass(200);
    expect([again.over, list.began, ofUpstream.began]).toEqual([1, 3, 1]);
  });

  it('are read every second, and no more once the gateway closes', async () => {
    await pass(1_000);
    expect(list.began).toBe(1);
    files.onModuleDestroy();
    await pass(5_000);
    expect(list.began).toBe(1);
  });
});
