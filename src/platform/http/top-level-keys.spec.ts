import { describe, expect, it } from '@jest/globals';
import { topLevelKeys } from './top-level-keys.ts';

describe('topLevelKeys', () => {
  it.each<[string, string[]]>([
    ['{}', []],
    [' { } ', []],
    ['{"a":1,"b":"x"}', ['a', 'b']],
    ['{"a":1,"a":2}', ['a', 'a']],
    ['\n{\t"a"\r : "a" , "b":[{"c":1},"d"],"e":{"f":{"a":1}}}', ['a', 'b', 'e']],
    ['{"\\u0069d":1,"id":2}', ['id', 'id']],
    ['{"i\\u0064":1,"i\\/d":2}', ['id', 'i/d']],
    ['{"a\\"b":1,"c":"\\\\","d":"\\\\\\"{[,:"}', ['a"b', 'c', 'd']],
    ['{"a":"}","b":"{\\"id\\":1}"}', ['a', 'b']],
    ['{"":1,"__proto__":2}', ['', '__proto__']],
    ['{"a":[[],{}],"b":{},"c":[]}', ['a', 'b', 'c']],
  ])('reads %s', (text, keys) => {
    JSON.parse(text);
    expect(topLevelKeys(text)).toEqual(keys);
  });
});
