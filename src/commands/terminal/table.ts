/** Formats rows under their headings. Each column is as wide as its widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(headings), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
