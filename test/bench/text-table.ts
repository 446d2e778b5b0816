/** Rows as aligned columns, the first to the left, the others to the right; numbers with one digit. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'string' ? cell : Number.isNaN(cell) ? '–' : cell.toFixed(1))),
  );
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
