import type { Database } from '../../database/db.ts'
import { findingCells, findingHeaders } from '../../domain/mappings/issue-csv.ts'
import {
  type FindingState,
  findingStates,
  listFiles,
  type MappedKind,
  type MappingFinding,
  type MappingHealth,
} from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { csvLine } from '../../import/formats/csv-line.ts'
import { withoutFormula } from '../../import/formats/formulas.ts'
import type { PageRequest } from '../../store/lists/page.ts'
import { findingPage, mappingHealth } from '../../store/mappings/issues.ts'
import { toStandardOutput } from '../terminal/outgoing-file.ts'
import { table } from '../terminal/table.ts'

/** What is asked for. */
export interface Shown {
  kind?: MappedKind
  state?: FindingState
  /** Rows of each kind, 1 to 100. */
  limit: number
  json?: boolean
}

/** What somebody has to mend here; what only the platform has may be meant to be. */
const wrong = ['missing', 'twice', 'orphan', 'nearMiss'] as const

/** Shows how the mappings stand, and the worst rows of each kind. The exit code is 2 where something is wrong. */
export async function report(db: Database, service: Service, { kind, state, limit, json }: Shown) {
  const all = JSON.parse((await mappingHealth(db, service)).record) as MappingHealth[]
  const health = all.filter(one => kind === undefined || one.kind === kind)
  const found: Record<string, MappingFinding[]> = {}
  for (const { kind: of } of health) {
    const { records } = await findingPage(db, service, of, state, { limit })
    found[of] = JSON.parse(`[${records.join(',')}]`)
  }
  if (json) console.log(JSON.stringify({ kinds: health, findings: found }, null, 2))
  else {
    const counts = health.map(one => [one.kind, ...findingStates.map(each => one.states[each].toLocaleString('en'))])
    console.log(table(['', ...findingStates], counts))
    for (const { kind: of } of health)
      printRows(
        of,
        (found[of] ?? []).filter(one => state || one.state !== 'matched'),
      )
    for (const { kind: of, listedAt } of health)
      if (listedAt === null)
        console.log(
          `\nWhat the platform has of ${of} is not known: tillbridge import ${listFiles[of]} <file> tells it.`,
        )
  }
  if (health.some(({ states }) => wrong.some(each => states[each] > 0))) process.exitCode ??= 2
}

function printRows(kind: MappedKind, rows: readonly MappingFinding[]) {
  if (!rows.length) return
  const cells = rows.map(({ id, name, state, ecommerceId, suggestion, evidence, unitsInStock, unitsSold }) => [
    ...[id ?? '', name ?? '', state, ecommerceId ?? '', suggestion ?? ''],
    evidence.map(({ why, id: other }) => [why, other].filter(Boolean).join(' ')).join(', '),
    ...[unitsInStock, unitsSold].map(units => (units === null ? '' : units.toLocaleString('en'))),
  ])
  const headings = ['here', 'what it is', 'state', 'mapped to', 'probably', 'why', 'in stock', 'sold in 90 days']
  console.log(`\n${kind}\n${table(headings, cells)}`)
}

/** As it can be opened in a spreadsheet. */
const line = (cells: readonly string[]) => csvLine(cells.map(withoutFormula))

/** Writes all rows of one kind to standard output, in the columns that an import of mappings takes. */
export const writeCsv = (db: Database, service: Service, kind: MappedKind, state: FindingState | undefined) =>
  toStandardOutput(csvOf(db, service, kind, state))

async function* csvOf(db: Database, service: Service, kind: MappedKind, state: FindingState | undefined) {
  yield line(findingHeaders[kind])
  for (let asked: PageRequest = { limit: 100 }; ; ) {
    const { records, asOf, hasNextPage, end } = await findingPage(db, service, kind, state, asked)
    const rows = JSON.parse(`[${records.join(',')}]`) as MappingFinding[]
    yield rows
      .flatMap(row => {
        const cells = findingCells(kind, row)
        return cells ? [line(cells)] : []
      })
      .join('')
    if (!hasNextPage || !end) return
    asked = { limit: 100, asOf, after: end }
  }
}
