import { readdirSync, readFileSync } from 'node:fs'

/** Reads a file of /proc for each thread of a process; an empty string for a thread that ends in between. Throws if the process has ended. */
export const readThreadFiles = (pid: number, file: string): string[] =>
  readdirSync(`/proc/${pid}/task`).map(thread => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8')
    } catch {
      return ''
    }
  })

/** Lists the process IDs of a process's children. Throws if the process has ended. */
export const listChildPids = (pid: number): number[] =>
  readThreadFiles(pid, 'children').flatMap(pids => pids.split(' ').filter(Boolean).map(Number))
