/** Formats rows under their headings. Each column is as wide as its widest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  const formatLine = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [formatLine(headings), formatLine(widths.map(width => '-'.repeat(width))), ...rows.map(formatLine)].join('\n')
}

/** Formats a timestamp to the minute, in UTC: `2026-11-22 14:05`. */
export const toMinute = (timestamp: string | Date) => new Date(timestamp).toISOString().slice(0, 16).replace('T', ' ')
