import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseApiKeys } from '../contract/secret-lists.ts';
import type { SecretFiles } from '../platform/config/secret-files.ts';
import type { GatewayError } from '../platform/errors/gateway-error.ts';
import type { OpenRequests } from '../platform/server/open-requests.ts';
import { RequestContext } from '../platform/server/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';
import type { ReadToken } from './read-token.ts';
import type { ReadTokenVerifier } from './read-token-verifier.ts';
import { WithdrawnCredentials } from './withdrawn-credentials.ts';

const KEY = 'a-key-of-some-length';
const OTHER = 'another-key-of-some-length';
const TOKEN = { caller: { id: 'token', isSubject: false }, expiresAtSeconds: 1 } as ReadToken;

describe('WithdrawnCredentials', () => {
  const list = { entries: parseApiKeys(`${KEY},${OTHER}`, 'variable').entries, version: 0 };
  const use = (keys: string): void => {
    list.entries = parseApiKeys(keys, 'variable').entries;
    list.version++;
  };
  const verifier: Pick<ReadTokenVerifier, 'trusts'> & { version: number } = {
    version: 1,
    trusts: () => true,
  };
  let ended: GatewayError[];
  let reads: RequestContext[];
  let looks: number;
  let onRead: () => void | Promise<void>;
  let timesRead: number;
  let withdrawn: WithdrawnCredentials;

  beforeEach(() => {
    jest.useFakeTimers();
    use(`${KEY},${OTHER}`);
    Object.assign(verifier, { version: 1, trusts: () => true });
    ended = [];
    looks = 0;
    timesRead = 0;
    onRead = () => undefined;
    reads = [];
    const readAgain = async () => {
      timesRead++;
      await onRead();
    };
    const openReads = () => {
      looks++;
      return reads;
    };
    withdrawn = new WithdrawnCredentials(
      new ApiKeys(list),
      verifier as unknown as ReadTokenVerifier,
      { readAgain } as SecretFiles,
      { reads: openReads } as unknown as OpenRequests,
    );
    withdrawn.onModuleInit();
  });
  afterEach(() => {
    withdrawn.onModuleDestroy();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  function newRead(): RequestContext {
    const read = new RequestContext('r1', '/streams/x', '');
    read.openRead = { endEarly: (error) => void ended.push(error), onClosed: () => undefined };
    reads.push(read);
    return read;
  }
  function readWith(key: string): void {
    const id = credentialDigest(key).toString('base64');
    const read = newRead();
    read.caller = { id, isSubject: false };
    read.access = { scope: 'streams:read' };
  }
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  const codes = (): unknown[] => ended.map(({ code, reason }) => [code, reason]);

  it('ends the reads of a key that is no longer in its file, and no others', async () => {
    readWith(OTHER);
    readWith(KEY);
    newRead();
    use(KEY);
    await pass(499);
    expect(codes()).toEqual([]);
    await pass(1);
    expect(codes()).toEqual([['invalid_credentials', 'withdrawn']]);
  });

  it('ends the reads of a key that has lost their scope', async () => {
    readWith(KEY);
    use(`${KEY} name=a scopes=commands`);
    await pass(500);
    expect(codes()).toEqual([['scope_not_covered', undefined]]);
  });

  it('ends the reads of a token whose secret or key has gone', async () => {
    const read = newRead();
    read.caller = TOKEN.caller;
    read.access = { readToken: TOKEN };
    readWith(KEY);
    verifier.version = 2;
    await pass(1_000);
    expect(codes()).toEqual([]);
    verifier.version = 3;
    verifier.trusts = (token) => token !== TOKEN;
    await pass(500);
    expect(codes()).toEqual([['invalid_credentials', 'withdrawn']]);
  });

  // A read of a file that was being written ended the reads of keys that came with its next bytes.
  it('reads the file again first, because its key may be back', async () => {
    readWith(OTHER);
    use(KEY);
    onRead = () => use(`${KEY},${OTHER}`);
    await pass(5_000);
    expect(codes()).toEqual([]);
  });

  it('looks at no read while nothing changes', async () => {
    await pass(10_000);
    expect([timesRead, looks]).toEqual([0, 0]);
  });

  it('looks twice after a change, for a read that was being let in meanwhile, and reads the files once', async () => {
    use(KEY);
    await pass(500);
    expect([timesRead, looks]).toEqual([1, 1]);
    readWith(OTHER);
    await pass(500);
    expect([timesRead, looks, ended.length]).toEqual([1, 2, 1]);
    await pass(10_000);
    expect([timesRead, looks]).toEqual([1, 2]);
  });

  it('does not begin again while the files are being read', async () => {
    const slow = Promise.withResolvers<void>();
    onRead = () => slow.promise;
    use(KEY);
    await pass(2_000);
    expect([timesRead, looks]).toEqual([1, 0]);
    slow.resolve();
    await pass(500);
    use(OTHER);
    await pass(1_000);
    expect(timesRead).toBe(2);
  });

  it.each([
    [120, [50, 100, 120]],
    [4_000, [200, 400, 600]],
  ])('goes through %i reads in steps', async (count, seen) => {
    for (let i = 0; i < count; i++) readWith(OTHER);
    use(KEY);
    await pass(500);
    const steps = [ended.length];
    for (let step = 0; step < 2; step++) {
      await pass(50);
      steps.push(ended.length);
    }
    expect(steps).toEqual(seen);
  });

  it('finishes its steps before it looks again', async () => {
    for (let i = 0; i < 4_000; i++) readWith(OTHER);
    use(KEY);
    await pass(1_000);
    expect([looks, ended.length]).toEqual([1, 2_200]);
    await pass(450);
    expect([looks, ended.length]).toEqual([1, 4_000]);
    await pass(50);
    expect(looks).toBe(2);
  });

  it('stops in the middle of its steps when the gateway ends', async () => {
    for (let i = 0; i < 1_000; i++) readWith(OTHER);
    use(KEY);
    await pass(500);
    withdrawn.onModuleDestroy();
    expect(jest.getTimerCount()).toBe(0);
  });
});
