/** Returns cells as a line of CSV (RFC 4180), with its line end. */
export const formatCsvLine = (cells: readonly string[]) =>
  `${cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`
