import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportSummary } from '../../../src/import/import-file.ts'
import type { Accounts } from './accounts.ts'
import { readLines } from './csv.ts'
import { saidBy } from './lines.ts'
import { lists, type Seen } from './records.ts'
import type { Shop } from './shop.ts'
import { count, emptyTallies, type Tallies } from './tally.ts'

/** The results of the imports, the rejected lines, and the records of the lists afterwards. */
export interface Audit {
  /** By file name. */
  summaries: Record<string, ImportSummary>
  expected: Tallies
  rejected: Tallies
  /** The columns and reasons of rejected lines, each with its count. */
  reasons: Record<string, number>
  answered: Tallies
  /** By path: records listed, and how many different ones these are. */
  listed: Record<string, { records: number; different: number; pages: number; fullest: number }>
  /** Lines that a transaction shows twice. */
  linesTwice: number
  /** Transactions whose total is not the sum of its lines. */
  wrongTotals: number
}

/** Imports the files of `folder` and reads every list from its first page to its last. Returns the results. */
export async function audit(shop: Shop, accounts: Accounts, folder: string): Promise<Audit> {
  const summaries: Audit['summaries'] = {}
  const reasons: Audit['reasons'] = {}
  const input = emptyTallies()
  const rejected = emptyTallies()
  for (const { kind, file } of accounts.files) {
    const path = join(folder, file)
    const rejectedFile = join(folder, `${file.replace(/\.csv(\.gz)?$/, '')}.rejected.csv`)
    summaries[file] = await shop.importFile(kind, path, rejectedFile)
    for await (const line of readLines(path)) count(input[kind], saidBy[kind](line))
    if (!existsSync(rejectedFile)) continue
    for await (const line of readLines(rejectedFile)) {
      count(rejected[kind], saidBy[kind](line))
      const reason = `${line.column} ${line.reason}`
      reasons[reason] = (reasons[reason] ?? 0) + 1
    }
  }
  return { summaries, expected: input, rejected, reasons, ...(await pagination(shop)) }
}

/** Nothing is kept of a record but its key and what it adds to the tallies. */
async function pagination(shop: Shop) {
  const answered = emptyTallies()
  const listed: Audit['listed'] = {}
  const seen: Seen = { references: new Set(), buffers: new Map() }
  let linesTwice = 0
  let wrongTotals = 0
  for (const { path, key, parts } of lists) {
    const keys = new Set<string>()
    const walked = { records: 0, different: 0, pages: 0, fullest: 0 }
    for await (const page of shop.pages(path)) {
      walked.pages++
      walked.fullest = Math.max(walked.fullest, page.length)
      for (const record of page as never[]) {
        keys.add(key(record))
        walked.records++
        for (const part of parts(record, seen)) count(answered[part.kind], part)
        if (path.includes('transactions')) {
          const { lines, total } = record as { lines: { id: string; value: string }[]; total: string }
          linesTwice += lines.length - new Set(lines.map(line => line.id)).size
          const pence = (text: string) => BigInt(text.replace('.', ''))
          if (lines.reduce((sum, line) => sum + pence(line.value), 0n) !== pence(total)) wrongTotals++
        }
      }
    }
    listed[path] = { ...walked, different: keys.size }
  }
  return { answered, listed, linesTwice, wrongTotals }
}
