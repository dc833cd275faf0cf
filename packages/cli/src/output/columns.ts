import { plainLine } from './plain-text.ts';
import { joined, styled, type Format, type Styled, type Text } from './styled.ts';

/** The look of a cell. */
export type FormatOf = (cell: string, row: number, column: number) => Format | undefined;

const GAP = 2;

/** The look of a table whose first row is its heading. */
export const boldHeading: FormatOf = (_, row) => (row === 0 ? 'bold' : undefined);

/**
 * Lines of cells, each column as wide as its widest cell. A cell is one line, with escapes for what would steer a terminal. A line that is wider
 * than `width` continues below with a whole cell: a terminal would break it in the middle of a date.
 */
export function inColumns(
  rows: readonly (readonly string[])[],
  formatOf: FormatOf = () => undefined,
  width = Infinity,
): Styled {
  const shown = rows.map((row) => row.map(plainLine));
  const widths: number[] = [];
  for (const row of shown) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return joined(
    shown.map((row, rowIndex) => {
      const line: Text[] = [];
      let [column, written] = [0, 0];
      for (const [index, cell] of row.entries()) {
        if (cell !== '' && index > 0 && column + cell.length > width) {
          line.push('\n');
          [column, written] = [GAP, 0];
        }
        if (cell !== '') {
          line.push(' '.repeat(column - written), styled(formatOf(cell, rowIndex, index), cell));
          written = column + cell.length;
        }
        column += (widths[index] ?? 0) + GAP;
      }
      return joined([...line, '\n']);
    }),
  );
}
