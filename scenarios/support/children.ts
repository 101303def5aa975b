import { readFileSync } from 'node:fs'

/** The numbers of the processes that one has started, and that run. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
