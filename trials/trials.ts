/** What is tried for minutes, or needs what a checkout does not bring: a file each, run by `npm run trial -- <name>`. */
export const trials = {
  specification: { file: 'specification/run.ts', what: 'the statements of the specification, row by row' },
  recovery: {
    file: 'recovery.ts',
    what: "back to a moment between two backups, with Debian's PostgreSQL and its log archived",
  },
} as const satisfies Record<string, { file: string; what: string }>
