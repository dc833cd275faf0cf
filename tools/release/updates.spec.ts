import { describe, expect, it } from '@jest/globals';
import { describeOutdated, heldBack } from './updates.ts';

const PAGE = `# Dependencies

| \`other\` | Not of this table. |

## Held back

| Package      | Why         |
| ------------ | ----------- |
| \`a\`, \`@b/c\` | Its reason. |
`;

describe('heldBack', () => {
  it('has each package of the table with its reason', () => {
    expect([...heldBack(PAGE)]).toEqual([
      ['a', 'Its reason.'],
      ['@b/c', 'Its reason.'],
    ]);
  });

  it('has none where nothing is held', () => {
    expect(heldBack('# Dependencies\n').size).toBe(0);
  });
});

describe('describeOutdated', () => {
  it('offers what is newer, says why a package is held, and leaves out a tag that is older', () => {
    const outdated = {
      a: { current: '1.0.0', wanted: '1.0.0', latest: '2.0.0' },
      newer: { current: '1.9.0', wanted: '1.10.0', latest: '1.10.0' },
      older: { current: '12.0.6', wanted: '12.0.6', latest: '11.1.0' },
      'alias:real@^1.0.0': { current: '2.0.1', wanted: '2.0.1', latest: '1.23.3' },
    };
    expect(describeOutdated(outdated, heldBack(PAGE))).toEqual([
      'held    a 1.0.0 (latest 2.0.0): Its reason.',
      'update  newer 1.9.0 -> 1.10.0',
    ]);
  });
});
