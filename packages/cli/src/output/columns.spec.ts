import { describe, expect, it } from '@jest/globals';
import { inColumns } from './columns.ts';
import { rendered } from './styled.ts';

describe('inColumns', () => {
  const rows = [
    ['ADDRESS', 'STATUS', 'UPDATED_AT', 'PARENT'],
    ['assistant/ada-of-a-long-name', 'running', '2026-11-21 16:02:11', ''],
    ['chat/a', 'idle', '2026-11-21 16:02:11', '/t/default/a/assistant/ada'],
  ];

  it('makes each column as wide as its widest cell', () => {
    expect(rendered(inColumns(rows)).split('\n')).toEqual([
      'ADDRESS                       STATUS   UPDATED_AT           PARENT',
      'assistant/ada-of-a-long-name  running  2026-11-21 16:02:11',
      'chat/a                        idle     2026-11-21 16:02:11  /t/default/a/assistant/ada',
      '',
    ]);
  });

  // A terminal of 50 columns broke the line within the date.
  it('continues a line below that is too wide, and breaks no cell', () => {
    expect(rendered(inColumns(rows, undefined, 50)).split('\n')).toEqual([
      'ADDRESS                       STATUS   UPDATED_AT',
      '  PARENT',
      'assistant/ada-of-a-long-name  running',
      '  2026-11-21 16:02:11',
      'chat/a                        idle',
      '  2026-11-21 16:02:11  /t/default/a/assistant/ada',
      '',
    ]);
  });
});
