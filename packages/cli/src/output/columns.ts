/** Changes the look of a cell but not its width. */
export type Paint = (cell: string, row: number, column: number) => string;

/** Lines of cells, each column as wide as its widest cell; the last one is not padded. */
export function inColumns(
  rows: readonly (readonly string[])[],
  paint: Paint = (cell) => cell,
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows.map((row, rowIndex) =>
    row
      .map((cell, index) => {
        const isLast = index === row.length - 1;
        const padding = isLast ? '' : ' '.repeat((widths[index] ?? 0) - cell.length);
        return paint(cell, rowIndex, index) + padding;
      })
      .join('  ')
      .trimEnd(),
  );
}
