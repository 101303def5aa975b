import type { Database } from '../../database/db.ts'
import { issueCsvCells, issueCsvHeaders } from '../../domain/mappings/issue-csv.ts'
import {
  type IssueState,
  issueStates,
  type MappedKind,
  type MappingIssue,
  type MappingStatus,
  platformImportTypes,
} from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatCsvLine } from '../../import/formats/csv-line.ts'
import { escapeFormula } from '../../import/formats/formulas.ts'
import type { PageRequest } from '../../store/lists/page.ts'
import { readIssuePage, readMappingStatus } from '../../store/mappings/issues.ts'
import { writeToStandardOutput } from '../terminal/outgoing-file.ts'
import { formatTable } from '../terminal/table.ts'

export interface ReportOptions {
  kind?: MappedKind
  state?: IssueState
  /** Rows of each kind, 1 to 100. */
  limit: number
  json?: boolean
}

/** The states that set exit code 2. */
const problemStates = ['unmapped', 'duplicate', 'orphaned', 'nearMatch'] as const

/** Prints the number of records per state and the most important issues. Sets exit code 2 if there are problems. */
export async function printReport(db: Database, service: Service, { kind, state, limit, json }: ReportOptions) {
  const all = JSON.parse((await readMappingStatus(db, service)).record) as MappingStatus[]
  const statuses = all.filter(status => kind === undefined || status.kind === kind)
  const issues: Record<string, MappingIssue[]> = {}
  for (const status of statuses) {
    const { records } = await readIssuePage(db, service, status.kind, state, { limit })
    issues[status.kind] = JSON.parse(`[${records.join(',')}]`)
  }
  if (json) console.log(JSON.stringify({ kinds: statuses, issues }, null, 2))
  else {
    const counts = statuses.map(status => [
      status.kind,
      ...issueStates.map(issueState => status.states[issueState].toLocaleString('en')),
    ])
    console.log(formatTable(['', ...issueStates], counts))
    for (const status of statuses)
      printRows(
        status.kind,
        (issues[status.kind] ?? []).filter(issue => state || issue.state !== 'matched'),
      )
    for (const status of statuses)
      if (status.listedAt === null)
        console.log(
          `\nNo platform file of ${status.kind} has been imported. Run: tillbridge import ${platformImportTypes[status.kind]} <file>`,
        )
  }
  if (statuses.some(({ states }) => problemStates.some(problemState => states[problemState] > 0)))
    process.exitCode ??= 2
}

function printRows(kind: MappedKind, rows: readonly MappingIssue[]) {
  if (!rows.length) return
  const cells = rows.map(({ id, name, state, ecommerceId, suggestion, evidence, unitsInStock, unitsSold }) => [
    ...[id ?? '', name ?? '', state, ecommerceId ?? '', suggestion ?? ''],
    evidence.map(({ reason, id: other }) => [reason, other].filter(Boolean).join(' ')).join(', '),
    ...[unitsInStock, unitsSold].map(units => (units === null ? '' : units.toLocaleString('en'))),
  ])
  const headings = ['record', 'name', 'state', 'mapped to', 'suggestion', 'reason', 'in stock', 'sold in 90 days']
  console.log(`\n${kind}\n${formatTable(headings, cells)}`)
}

/** A CSV line without formulas that a spreadsheet would run. */
const toCsvLine = (cells: readonly string[]) => formatCsvLine(cells.map(escapeFormula))

/** Writes all rows of one kind to standard output, in columns that an import of mappings accepts. */
export const writeCsv = (db: Database, service: Service, kind: MappedKind, state: IssueState | undefined) =>
  writeToStandardOutput(renderCsvLines(db, service, kind, state))

async function* renderCsvLines(db: Database, service: Service, kind: MappedKind, state: IssueState | undefined) {
  yield toCsvLine(issueCsvHeaders[kind])
  for (let request: PageRequest = { limit: 100 }; ; ) {
    const { records, asOf, hasNextPage, end } = await readIssuePage(db, service, kind, state, request)
    const rows = JSON.parse(`[${records.join(',')}]`) as MappingIssue[]
    yield rows
      .flatMap(row => {
        const cells = issueCsvCells(kind, row)
        return cells ? [toCsvLine(cells)] : []
      })
      .join('')
    if (!hasNextPage || !end) return
    request = { limit: 100, asOf, after: end }
  }
}
