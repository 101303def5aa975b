import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportSummary } from '../../../src/import/import-file.ts'
import type { Accounts } from './accounts.ts'
import { readLines } from './csv.ts'
import { comparableByType } from './lines.ts'
import { type EarlierLists, lists } from './records.ts'
import type { Shop } from './shop.ts'
import { addToTally, createTallies, type Tallies } from './tally.ts'

/** The results of the imports and the contents of the lists after them. */
export interface AuditResult {
  /** Import results by file name. */
  summaries: Record<string, ImportSummary>
  expected: Tallies
  rejected: Tallies
  /** The columns and reasons of rejected lines, each with its count. */
  reasons: Record<string, number>
  listedTallies: Tallies
  /** Counts by path: records, different records, pages, and records on the longest page. */
  listed: Record<string, { records: number; different: number; pages: number; longestPage: number }>
  /** The number of lines that occur twice in their transaction. */
  linesTwice: number
  /** The number of transactions whose total differs from the sum of their lines. */
  wrongTotals: number
}

/** Imports the files of `folder` and reads every list from its first page to its last. Returns the results. */
export async function runAudit(shop: Shop, accounts: Accounts, folder: string): Promise<AuditResult> {
  const summaries: AuditResult['summaries'] = {}
  const reasons: AuditResult['reasons'] = {}
  const fileTallies = createTallies()
  const rejected = createTallies()
  for (const { kind, file } of accounts.files) {
    const path = join(folder, file)
    const rejectedFile = join(folder, `${file.replace(/\.csv(\.gz)?$/, '')}.rejected.csv`)
    summaries[file] = await shop.importFile(kind, path, rejectedFile)
    for await (const line of readLines(path)) addToTally(fileTallies[kind], comparableByType[kind](line))
    if (!existsSync(rejectedFile)) continue
    for await (const line of readLines(rejectedFile)) {
      addToTally(rejected[kind], comparableByType[kind](line))
      const reason = `${line.column} ${line.reason}`
      reasons[reason] = (reasons[reason] ?? 0) + 1
    }
  }
  return { summaries, expected: fileTallies, rejected, reasons, ...(await auditLists(shop)) }
}

/** Reads all lists. Stores only the key of each record and adds the record to the tallies, so that memory is bounded. */
async function auditLists(shop: Shop) {
  const listedTallies = createTallies()
  const listed: AuditResult['listed'] = {}
  const earlierLists: EarlierLists = { references: new Set(), buffers: new Map() }
  let linesTwice = 0
  let wrongTotals = 0
  for (const { path, getKey, toParts } of lists) {
    const keys = new Set<string>()
    const listCounts = { records: 0, different: 0, pages: 0, longestPage: 0 }
    for await (const page of shop.readPages(path)) {
      listCounts.pages++
      listCounts.longestPage = Math.max(listCounts.longestPage, page.length)
      for (const record of page as never[]) {
        keys.add(getKey(record))
        listCounts.records++
        for (const part of toParts(record, earlierLists)) addToTally(listedTallies[part.kind], part)
        if (path.includes('transactions')) {
          const { lines, total } = record as { lines: { id: string; value: string }[]; total: string }
          linesTwice += lines.length - new Set(lines.map(line => line.id)).size
          const toPence = (text: string) => BigInt(text.replace('.', ''))
          if (lines.reduce((sum, line) => sum + toPence(line.value), 0n) !== toPence(total)) wrongTotals++
        }
      }
    }
    listed[path] = { ...listCounts, different: keys.size }
  }
  return { listedTallies, listed, linesTwice, wrongTotals }
}
