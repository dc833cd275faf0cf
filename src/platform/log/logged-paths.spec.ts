import { describe, expect, it } from '@jest/globals';
import { LoggedPaths } from './logged-paths.ts';

const KEY = 'key-0123456789abcdef';

/** Paths of a deployment whose keys can change, and the texts that were compared with its keys. */
function deployment(): { paths: LoggedPaths; keys: { list: string[] }; compared: string[] } {
  const keys = { list: [] as string[] };
  const compared: string[] = [];
  const isCredential = (text: string): boolean => {
    compared.push(text);
    return keys.list.includes(text);
  };
  const paths = new LoggedPaths({
    isCredential,
    get version() {
      return keys.list;
    },
  });
  return { paths, keys, compared };
}

describe('LoggedPaths', () => {
  it('looks for keys in a path once, because each look costs a digest', () => {
    const { paths, compared } = deployment();
    for (let read = 0; read < 3; read++)
      expect(paths.of(`/streams/${KEY}`)).toBe(`/streams/${KEY}`);
    expect(compared).toEqual([KEY]);
  });

  // A path that was clean yesterday holds a key today.
  it('looks again after the keys have changed', () => {
    const { paths, keys } = deployment();
    expect(paths.of(`/streams/${KEY}`)).toBe(`/streams/${KEY}`);
    keys.list = [KEY];
    expect(paths.of(`/streams/${KEY}`)).toBe('/streams/(key)');
    expect(paths.of(`/streams/${KEY}`)).toBe('/streams/(key)');
    keys.list = [];
    expect(paths.of(`/streams/${KEY}`)).toBe(`/streams/${KEY}`);
  });

  it('cuts a long path every time', () => {
    const { paths } = deployment();
    const long = `/${'a'.repeat(600)}`;
    for (let read = 0; read < 2; read++) expect(paths.of(long)).toBe(long.slice(0, 512));
  });
});
