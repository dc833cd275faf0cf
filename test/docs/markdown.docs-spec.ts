import { describe, expect, it } from '@jest/globals';
import { anchorOf, parsePage } from './markdown.ts';

describe('parsePage', () => {
  it('reads a block with its line, language, name and marker', () => {
    const page = parsePage(
      'a.md',
      'x\n\n<!-- snippet: ci; why -->\n\n```sh name\none\n\n two\n```\n',
    );
    expect(page.blocks).toEqual([
      {
        page: 'a.md',
        line: 5,
        language: 'sh',
        name: 'name',
        text: 'one\n\n two\n',
        marker: 'ci; why',
      },
    ]);
  });

  it('takes the indentation of a block in a list off its lines', () => {
    const { blocks } = parsePage('a.md', '- x\n\n  ```yaml\n  a:\n    b: 1\n  ```\n');
    expect(blocks[0]?.text).toBe('a:\n  b: 1\n');
  });

  it('forgets a marker that no block follows', () => {
    const { blocks } = parsePage('a.md', '<!-- snippet: ci; why -->\ntext\n```sh\none\n```\n');
    expect(blocks[0]?.marker).toBeUndefined();
  });

  it('throws for a block that is not closed', () => {
    expect(() => parsePage('a.md', '```sh\none\n')).toThrow('The block of line 1 is not closed.');
  });

  it('reads links, images and definitions, and none within code', () => {
    const { links, codeSpans } = parsePage(
      'a.md',
      '[a](b.md#c) ![d](e.png "f") <https://g.example>\n[h]: i.md\n`[j](k)`\n```text\n[l](m)\n```\n',
    );
    expect(links.map(({ text, line }) => [text, line])).toEqual([
      ['b.md#c', 1],
      ['e.png', 1],
      ['https://g.example', 1],
      ['i.md', 2],
    ]);
    expect(codeSpans).toEqual([{ text: '[j](k)', line: 3 }]);
  });

  it('tells headings of the same name apart as GitHub does, and takes none from a block', () => {
    const { anchors } = parsePage('a.md', '# A b\n## A b\n```sh\n# c\n```\n<a id="d"></a>\n');
    expect([...anchors]).toEqual(['a-b', 'a-b-1', 'd']);
  });
});

describe('anchorOf', () => {
  it.each([
    ['What is `in` a token', 'what-is-in-a-token'],
    ['The log shows 499, or `"broken": true`', 'the-log-shows-499-or-broken-true'],
    ['A timeline: `@durable-streams/client`', 'a-timeline-durable-streamsclient'],
    ['See [this](x.md) _here_', 'see-this-here'],
    ['`upstream_timeout` at once', 'upstream_timeout-at-once'],
    ['Über 1.2 – 3', 'über-12--3'],
  ])('of %j is %s', (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor);
  });
});
