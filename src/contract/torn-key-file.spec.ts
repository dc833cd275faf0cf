import { describe, expect, it } from '@jest/globals';
import { opensNoMore, type ApiKey } from './api-key.ts';
import { parseApiKeys } from './secret-lists.ts';

const A = 'aaaaaaaaaaaaaaaa-key-one';
const B = 'bbbbbbbbbbbbbbbb-key-two';
const DIGEST = `sha256:${'0a'.repeat(32)}`;

const LISTS = [
  A,
  `${A}\n${B}\n`,
  `${A} name=agents\n`,
  `${A} name=agents scopes=streams:read\n`,
  `${A} name=agents scopes=streams:read+commands\n${B} name=ops\n`,
  `${A} scopes=streams:read paths=/streams/t/acme/a1 name=agents\n`,
  `${B} name=ops\n${A} name=agents paths=/streams/t/acme/a1+/streams/t/acme/a2 scopes=streams:write`,
  `# the keys\n${A} name=agents scopes=commands\n# the end`,
  `${DIGEST} name=hidden scopes=registry:read\n${A} name=agents scopes=shapes:read`,
  `\uFEFF${A} name=a scopes=commands\r\n${B} name=b scopes=streams:delete paths=/streams\r\n`,
];

const keysOf = (text: string, inForce?: readonly ApiKey[]) =>
  parseApiKeys(text, 'file', [], inForce);

function isCovered(key: ApiKey, lists: readonly (readonly ApiKey[])[]): boolean {
  return lists.some((list) =>
    list.some((other) => other.digest.equals(key.digest) && opensNoMore(key, other)),
  );
}

// A cut behind `name=agents` gave a key that the list had limited every scope.
describe('a key file that is read while it is written', () => {
  it.each(LISTS.flatMap((before) => LISTS.map((after) => [before, after] as const)))(
    'opens at no cut more than before or after: %j → %j',
    (before, after) => {
      const old = keysOf(before).entries;
      const lists = [old, keysOf(after).entries];
      const isOldBare = old.every(({ isNamed }) => !isNamed);
      const opened: string[] = [];
      for (let length = 0; length < after.length; length++) {
        const { entries, problems } = keysOf(after.slice(0, length), old);
        if (problems.length > 0) continue;
        // A bare key without a line end is as good as any, where no list in use has more than such.
        const isAllowed = (key: ApiKey): boolean => isOldBare && !key.isNamed;
        const wrong = entries.filter((key) => !isCovered(key, lists) && !isAllowed(key));
        if (wrong.length > 0) opened.push(after.slice(0, length));
      }
      expect(opened).toEqual([]);
    },
  );

  it('never gives a key more that the list in use limits', () => {
    const old = keysOf(`${A} name=agents scopes=streams:read paths=/streams/t/a/b\n`).entries;
    for (const cut of [A, `${A} name=agents`, `${A} name=agents paths=/streams/t/a`]) {
      expect(keysOf(cut, old).problems).toEqual([
        'line 1 must have a line end, because it opens more than the list in use and may be cut off',
      ]);
      // At a start nothing is in use.
      expect(keysOf(cut).problems).toEqual([]);
      expect(keysOf(`${cut}\n`, old).problems).toEqual([]);
    }
  });

  it('takes a bare key without a line end, and an entry that opens no more than now', () => {
    expect(keysOf(`${A}\n${B}`, keysOf(A).entries).entries).toHaveLength(2);
    expect(keysOf(B, keysOf(A).entries).problems).toEqual([]);
    const limited = `${A} name=agents scopes=streams:read`;
    const old = keysOf(`${B} name=ops\n${limited}`).entries;
    expect(keysOf(limited, old).problems).toEqual([]);
    expect(keysOf(`${A} name=other scopes=streams:read\n# the end`, old).problems).toEqual([]);
  });
});
