/** Formats the examples at the end of a command's help. */
export const formatExamples = (...lines: [command: string, description: string][]) =>
  `\nExamples:\n${lines.map(([command, result]) => `  $ tillbridge ${command}\n      ${result}`).join('\n')}\n`
