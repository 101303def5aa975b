import { setImmediate as untilSent } from 'node:timers/promises'
import { type Database, type Db, type Sql, sql, sendWithCommit } from '../../database/db.ts'
import { mergeLines, type TransactionParts, withoutOtherSource } from '../../domain/orders/merge-lines.ts'
import type { RetailTransaction } from '../../domain/orders/transactions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { erasedAmong } from '../customers/erased.ts'
import { beginSourceDatedChange, changeTimestamp, withChangeTimestamp } from '../lists/back-date.ts'
import { type Change, type Upserted, withoutClosingBrace, withTimestamp } from '../lists/change-timestamp.ts'
import { readFilteredScan } from '../lists/filtered-scan.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'
import { opaqueParam, opaqueServiceId } from '../lists/planner-fences.ts'

type Stored = Omit<RetailTransaction, 'updateTimeStamp'>

/** Transactions that are in memory at a time, so that a batch of lines of many long ones does not need much of it. */
const transactionsAtOnce = 200

/**
 * Merges rows, one a line, into the transactions: a line that is there is replaced, another one stays. A transaction whose source tells
 * no time is of its sale date. Counts are of rows.
 */
export const upsertTransactions = (db: Database, service: Service, rows: readonly TransactionParts[]) =>
  merge(db, service, rows, (_, given) => given)

/** The same for what a head office tells, by its API or its exports: what one has told of stays as that has it. */
export const upsertSalesTold = (db: Database, service: Service, rows: readonly TransactionParts[]) =>
  merge(db, service, rows, withoutOtherSource)

function merge(
  db: Database,
  service: Service,
  rows: readonly TransactionParts[],
  among: typeof withoutOtherSource,
): Promise<Upserted> {
  return db.transaction(async tx => {
    // One merge at a time: what another one is about to add cannot be seen, nor locked.
    sendWithCommit(tx.run(sql`select pg_advisory_xact_lock(${service.id}, hashtext('retail_transaction'))`))
    const beginning = beginSourceDatedChange(tx, service, 'retail_transaction', rows.map(dated))
    const asked = erasedOf(tx, service, rows)
    const portions = inPortions(rows)
    const storedOfPortion = (i: number) => storedOf(tx, service, portions[i] ?? [])
    let [stored, storedNext] = [storedOfPortion(0), storedOfPortion(1)]
    const [change, erased] = await Promise.all([beginning, asked, stored, storedNext])
    const sum = { inserted: 0, changed: 0 }
    for (const [i, portion] of portions.entries()) {
      const before = await stored
      // It is answered behind what is written of these: what the next ones were is known by then, so that they are merged meanwhile.
      ;[stored, storedNext] = [storedNext, storedOfPortion(i + 2)]
      // Where merging fails nobody comes to wait for it.
      sendWithCommit(stored, storedNext)
      const given = among(
        before,
        portion.map(row => withoutErased(row, erased)),
      )
      const { merged, inserted, changed } = mergeLines(before, given, service.settings.currency)
      if (merged.length) sendWithCommit(write(tx, service, change, merged, portion))
      await untilSent()
      sum.inserted += inserted
      sum.changed += changed
    }
    return sum
  })
}

/** The rows, some transactions at a time, each with all of its rows. */
function inPortions(rows: readonly TransactionParts[]): TransactionParts[][] {
  const ofEach = [...Map.groupBy(rows, row => row.header.id).values()]
  return Array.from({ length: Math.ceil(ofEach.length / transactionsAtOnce) }, (_, i) =>
    ofEach.slice(i * transactionsAtOnce, (i + 1) * transactionsAtOnce).flat(),
  )
}

function erasedOf(tx: Db, service: Service, rows: readonly TransactionParts[]) {
  const customers = new Set<string>()
  for (const { header } of rows) if (header.customerId) customers.add(header.customerId)
  return erasedAmong(tx, service, [...customers])
}

/** What comes in late of somebody who was erased is nobody's. */
const withoutErased = (row: TransactionParts, erased: ReadonlySet<string>): TransactionParts =>
  erased.has(row.header.customerId ?? '') ? { ...row, header: { ...row.header, customerId: null } } : row

/** What is stored of the transactions that rows are of, by their identifiers; they are held. */
async function storedOf(tx: Db, service: Service, rows: readonly TransactionParts[]): Promise<Map<string, Stored>> {
  if (!rows.length) return new Map()
  const ids = [...new Set(rows.map(({ header }) => header.id))]
  const stored = await tx.rows<{ record: string }>(
    sql`select record from retail_transaction where service_id = ${opaqueServiceId(service)} and id = any(${ids}) order by id for update`,
  )
  return new Map(stored.map(({ record }) => unstamped(record)).map(transaction => [transaction.id, transaction]))
}

/** Writes transactions whole; `rows` say when they changed. */
function write(
  tx: Db,
  service: Service,
  change: Change,
  merged: readonly Stored[],
  rows: readonly TransactionParts[],
): Promise<number> {
  const times = new Map(rows.map(({ header, updateTimeStamp }) => [header.id, updateTimeStamp]))
  const told = merged.map(({ id, saleDate }) => times.get(id) ?? saleDate)
  // Not as JSON: PostgreSQL would read it twice, once for its fields and once more for the record. The records are lines of one text, since in an
  // array each of their quotation marks would have to be written, and read, as two.
  return tx.run(sql`
    insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
    select ${service.id}, t.id, t.customer_id, t.sale_date, at.stamp, ${withChangeTimestamp(sql`t.body`, sql`at.stamp`, service, change)}
      from unnest(${merged.map(({ id }) => id)}::text[], ${merged.map(({ customerId }) => customerId)}::text[],
                  ${merged.map(({ saleDate }) => saleDate)}::timestamp[], ${told}::timestamp[], string_to_array(${merged.map(open).join('\n')}, chr(10)))
             as t (id, customer_id, sale_date, told, body)
      left join retail_transaction old on old.service_id = ${opaqueServiceId(service)} and old.id = t.id
      cross join lateral (select ${changeTimestamp({ sourceTime: sql`t.told`, previous: sql`old.changed_at` }, service, change)} as stamp) at
    on conflict (service_id, id) do update
      set (customer_id, sale_date, changed_at, record) = (excluded.customer_id, excluded.sale_date, excluded.changed_at, excluded.record)`)
}

/** A record as JSON text that is still open: its stamp follows. */
const open = (transaction: Stored) => JSON.stringify(transaction).slice(0, -1)

/** Adds transactions of our own making: `source` selects the fields of `RetailTransaction` by their names, the stamp apart. */
export const addTransactions = (tx: Db, service: Service, change: Change, source: Sql) =>
  tx.run(sql`
    insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
    select ${service.id}, t.id, t."customerId", t."saleDate"::timestamp, ${change.at}, ${withTimestamp(withoutClosingBrace(sql`row_to_json(t)`), change)}
      from (${source}) t`)

/** The record of one transaction, as JSON text. */
export const transactionRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(sql`select record from retail_transaction where service_id = ${service.id} and id = ${id}`)

function unstamped(record: string): Stored {
  const { updateTimeStamp: _, ...transaction } = JSON.parse(record) as RetailTransaction
  return transaction
}

const dated = ({ header, updateTimeStamp }: TransactionParts) => ({
  updateTimeStamp: updateTimeStamp ?? header.saleDate,
})

interface Filters {
  customerId?: string | undefined
  updatedAfter?: string | undefined
  updatedBefore?: string | undefined
  soldAfter?: string | undefined
  soldBefore?: string | undefined
  /** By sale date, the oldest first or the newest; absent: by change where `updatedAfter` is given, else the newest sale first, or as lines the oldest. */
  ascending?: boolean | undefined
}

const bySale = { column: sql`sale_date`, type: 'timestamp' } as const

/** A page of transactions, in an order that an index has (contract 15); ties by id. */
export function transactionPage(db: Db, service: Service, filters: Filters, asked: PageRequest) {
  const { customerId, ascending } = filters
  const whose = filter(customerId, id => sql`and customer_id = ${id}`)
  const changed = between(sql`changed_at`, [filters.updatedAfter, filters.updatedBefore], moment =>
    opaqueParam(moment, 'timestamptz'),
  )
  const sold = between(
    sql`sale_date`,
    [filters.soldAfter, filters.soldBefore],
    moment => sql`(${opaqueParam(moment, 'timestamptz')} at time zone ${service.settings.timeZone})`,
  )
  const list = {
    table: 'retail_transaction',
    record: sql`record`,
    key: sql`id`,
    live: customerId !== undefined,
  } as const
  const follows = ascending === undefined && filters.updatedAfter !== undefined
  const newestFirst = !follows && !(ascending ?? asked.asLines)
  const [order, ranged, sieve] = follows ? [byChangeTimestamp, changed, sold] : [bySale, sold, changed]
  const walk = { ...list, order, descending: newestFirst, where: sql`${whose} ${ranged ?? sql``}` }
  if (!sieve) return readPage(db, service, walk, asked)
  return readFilteredScan(
    db,
    service,
    walk,
    { where: sieve, column: follows ? bySale.column : byChangeTimestamp.column },
    asked,
  )
}

/** A range without its ends, as conditions that begin with `and`; undefined where neither end is given. */
function between(
  column: Sql,
  [after, before]: [string | undefined, string | undefined],
  bound: (moment: string) => Sql,
) {
  if (after === undefined && before === undefined) return
  return sql`
    ${filter(after, moment => sql`and ${column} > ${bound(moment)}`)}
    ${filter(before, moment => sql`and ${column} < ${bound(moment)}`)}`
}
