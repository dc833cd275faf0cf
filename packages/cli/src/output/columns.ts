/** Changes the look of a cell but not its width. */
export type Paint = (cell: string, row: number, column: number) => string;

const GAP = 2;

/**
 * Lines of cells, each column as wide as its widest cell; the last one is not padded. A line that is wider than `width`
 * continues below with a whole cell: a terminal would break it in the middle of a date.
 */
export function inColumns(
  rows: readonly (readonly string[])[],
  paint: Paint = (cell) => cell,
  width = Infinity,
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows.map((row, rowIndex) => {
    let line = '';
    let column = 0;
    for (const [index, cell] of row.entries()) {
      const isFolded = index > 0 && column + cell.length > width;
      if (isFolded) line = `${line.trimEnd()}\n${' '.repeat(GAP)}`;
      column = (isFolded ? GAP : column) + (widths[index] ?? 0) + GAP;
      const padding = ' '.repeat((widths[index] ?? 0) - cell.length + GAP);
      line += paint(cell, rowIndex, index) + padding;
    }
    return line.trimEnd();
  });
}
