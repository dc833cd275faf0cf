import { describe, expect, it } from '@jest/globals';
import { fillPage } from './page.ts';

const PAGE = `# Title

Prose.

<!-- bench: one -->

| old |

<!-- bench: end -->

More prose.

<!-- bench: two -->
<!-- bench: end -->

## By hand
`;

describe('a page with measurements', () => {
  it('gets each block anew and keeps the prose', () => {
    const page = fillPage(
      PAGE,
      new Map([
        ['one', '| $1 new |'],
        ['two', 'second'],
      ]),
    );
    expect(page).toBe(`# Title

Prose.

<!-- bench: one -->

| $1 new |

<!-- bench: end -->

More prose.

<!-- bench: two -->

second

<!-- bench: end -->

## By hand
`);
    expect(
      fillPage(
        page,
        new Map([
          ['one', 'x'],
          ['two', 'y'],
        ]),
      ),
    ).toContain('\n\nx\n\n');
  });

  it('is refused where a block is left over on either side', () => {
    expect(() => fillPage(PAGE, new Map([['one', 'x']]))).toThrow(
      'there are no measurements for the block "two"',
    );
    const three = new Map([
      ['one', 'x'],
      ['two', 'x'],
      ['three', 'x'],
    ]);
    expect(() => fillPage(PAGE, three)).toThrow('the page has no block for three');
  });
});
