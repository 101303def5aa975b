import { setImmediate as yieldToSocket } from 'node:timers/promises'
import { awaitAtCommit, type Database, type Db, type Sql, sql } from '../../database/db.ts'
import { mergeLines, type TransactionParts, withoutOtherSource } from '../../domain/orders/merge-lines.ts'
import type { RetailTransaction } from '../../domain/orders/transactions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findErased } from '../customers/erased.ts'
import { beginSourceDatedChange, changeTimestamp, withChangeTimestamp } from '../lists/back-date.ts'
import { type Change, type Upserted, withoutClosingBrace, withTimestamp } from '../lists/change-timestamp.ts'
import { readFilteredScan } from '../lists/filtered-scan.ts'
import { contentTime, type WriteContext } from '../lists/outdated.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'
import { opaqueParam, opaqueServiceId } from '../lists/planner-fences.ts'
import { isOwnTransaction, replaceOwnSales } from './own-sales.ts'

type StoredTransaction = Omit<RetailTransaction, 'updateTimeStamp'>

/** Transactions that are in memory at the same time, which limits the memory for batches of long transactions. */
const maxTransactionsPerBatch = 200

/**
 * Merges rows, one per line, into the transactions. Replaces stored lines; other lines stay. Without a time of its source, a transaction
 * has its sale date as change time. Returns counts of rows.
 */
export const upsertTransactions = (
  db: Database,
  service: Service,
  rows: readonly TransactionParts[],
  context?: WriteContext,
) => mergeTransactions(db, service, rows, (_, batchRows) => batchRows, replaceSoldOrders, context)

/** Replaces Tillbridge's own sales of the orders that these rows sold. A row with a negative quantity is a return. */
async function replaceSoldOrders(tx: Db, service: Service, change: Change, rows: readonly TransactionParts[]) {
  const orderNumbers = rows.flatMap(({ header: { id, orderNumber }, line: { quantity = 0 } }) =>
    orderNumber && quantity > 0 && !isOwnTransaction(id) ? [orderNumber] : [],
  )
  if (orderNumbers.length) await replaceOwnSales(tx, service, change, [...new Set(orderNumbers)])
}

/** Like `upsertTransactions`, for rows of a back office's API or exports: the fields that the other source has already set stay. */
export const upsertBackOfficeSales = (db: Database, service: Service, rows: readonly TransactionParts[]) =>
  mergeTransactions(db, service, rows, withoutOtherSource)

function mergeTransactions(
  db: Database,
  service: Service,
  rows: readonly TransactionParts[],
  applySource: typeof withoutOtherSource,
  beforeMerge?: typeof replaceSoldOrders,
  context?: WriteContext,
): Promise<Upserted> {
  return db.transaction(async tx => {
    // One merge at a time: rows that a concurrent merge inserts could not be seen or locked.
    awaitAtCommit(tx.run(sql`select pg_advisory_xact_lock(${service.id}, hashtext('retail_transaction'))`))
    const changePromise = beginSourceDatedChange(tx, service, 'retail_transaction', rows.map(toDated))
    const erasedPromise = findErasedCustomers(tx, service, rows)
    const batches = splitIntoBatches(rows)
    const contentTimes = new Map<string, string>()
    const readBatch = (i: number) => lockStored(tx, service, batches[i] ?? [], contentTimes)
    let [stored, nextStored] = [readBatch(0), readBatch(1)]
    const [change, erased] = await Promise.all([changePromise, erasedPromise, stored, nextStored])
    await beforeMerge?.(tx, service, change, rows)
    const sum = { inserted: 0, changed: 0, outdated: 0 }
    for (const [i, batch] of batches.entries()) {
      const storedRows = await stored
      // The database answers these queries after the write of the current batch. Pipelining them now lets us merge while it works.
      ;[stored, nextStored] = [nextStored, readBatch(i + 2)]
      // If merging fails, nothing awaits these promises.
      awaitAtCommit(stored, nextStored)
      const batchRows = applySource(
        storedRows,
        batch.map(row => withoutErased(row, erased)),
      ).filter(row => {
        const isOutdated = context?.skipOutdated === true && isOlderLine(row, storedRows, contentTimes, service)
        if (isOutdated) sum.outdated++
        return !isOutdated
      })
      const { merged, inserted, changed } = mergeLines(storedRows, batchRows, service.settings.currency)
      if (merged.length) awaitAtCommit(writeTransactions(tx, service, change, merged, batch))
      await yieldToSocket()
      sum.inserted += inserted
      sum.changed += changed
    }
    return sum
  })
}

/** True if the row changes a stored line, but is older than the stored transaction. New lines are never outdated. */
function isOlderLine(
  { header, line, updateTimeStamp }: TransactionParts,
  stored: ReadonlyMap<string, StoredTransaction>,
  contentTimes: ReadonlyMap<string, string>,
  service: Service,
) {
  const [transaction, time] = [stored.get(header.id), contentTimes.get(header.id)]
  if (!transaction || !time || !updateTimeStamp || updateTimeStamp >= time) return false
  if (!transaction.lines.some(({ id }) => id === line.id)) return false
  return mergeLines(new Map([[header.id, transaction]]), [{ header, line }], service.settings.currency).changed > 0
}

/** Splits rows into batches. All rows of a transaction are in the same batch. */
function splitIntoBatches(rows: readonly TransactionParts[]): TransactionParts[][] {
  const rowsByTransaction = [...Map.groupBy(rows, row => row.header.id).values()]
  return Array.from({ length: Math.ceil(rowsByTransaction.length / maxTransactionsPerBatch) }, (_, i) =>
    rowsByTransaction.slice(i * maxTransactionsPerBatch, (i + 1) * maxTransactionsPerBatch).flat(),
  )
}

function findErasedCustomers(tx: Db, service: Service, rows: readonly TransactionParts[]) {
  const customers = new Set<string>()
  for (const { header } of rows) if (header.customerId) customers.add(header.customerId)
  return findErased(tx, service, [...customers])
}

/** A late row of an erased customer becomes anonymous. A carrier's page shows the address, so the tracking is dropped. */
function withoutErased(row: TransactionParts, erased: ReadonlySet<string>): TransactionParts {
  if (!erased.has(row.header.customerId ?? '')) return row
  const { trackingNumber: _, trackingUrl: __, ...header } = row.header
  return { ...row, header: { ...header, customerId: null } }
}

/** Locks and returns the stored transactions of these rows, by ID. Adds their `source_changed_at` to `contentTimes`. */
async function lockStored(
  tx: Db,
  service: Service,
  rows: readonly TransactionParts[],
  contentTimes: Map<string, string>,
): Promise<Map<string, StoredTransaction>> {
  if (!rows.length) return new Map()
  const ids = [...new Set(rows.map(({ header }) => header.id))]
  const stored = await tx.rows<{ id: string; record: string; contentTime: string | null }>(
    sql`select id, record, source_changed_at::text as "contentTime" from retail_transaction where service_id = ${opaqueServiceId(service)} and id = any(${ids}) order by id for update`,
  )
  for (const { id, contentTime: time } of stored) if (time !== null) contentTimes.set(id, time)
  return new Map(stored.map(({ record }) => parseStored(record)).map(transaction => [transaction.id, transaction]))
}

/** Writes complete transactions. `rows` contain their change times. */
function writeTransactions(
  tx: Db,
  service: Service,
  change: Change,
  merged: readonly StoredTransaction[],
  rows: readonly TransactionParts[],
): Promise<number> {
  const times = new Map(rows.map(({ header, updateTimeStamp }) => [header.id, updateTimeStamp]))
  const changeTimes = merged.map(({ id, saleDate }) => times.get(id) ?? saleDate)
  // Not as JSON: PostgreSQL would parse it twice, for the fields and for the record. The records are lines of one string, because in an
  // array each quotation mark would have to be escaped.
  return tx.run(sql`
    insert into retail_transaction (service_id, id, customer_id, order_number, sale_date, changed_at, source_changed_at, record)
    select ${service.id}, t.id, t.customer_id, t.order_number, t.sale_date, at.new_timestamp, greatest(old.source_changed_at, ${contentTime(sql`t.source_time`, service, change)}), ${withChangeTimestamp(sql`t.body`, sql`at.new_timestamp`, service, change)}
      from unnest(${merged.map(({ id }) => id)}::text[], ${merged.map(({ customerId }) => customerId)}::text[], ${merged.map(({ orderNumber }) => orderNumber)}::text[],
                  ${merged.map(({ saleDate }) => saleDate)}::timestamp[], ${changeTimes}::timestamp[], string_to_array(${merged.map(withoutBrace).join('\n')}, chr(10)))
             as t (id, customer_id, order_number, sale_date, source_time, body)
      left join retail_transaction old on old.service_id = ${opaqueServiceId(service)} and old.id = t.id
      cross join lateral (select ${changeTimestamp({ sourceTime: sql`t.source_time`, previous: sql`old.changed_at` }, service, change)} as new_timestamp) at
    on conflict (service_id, id) do update
      set (customer_id, order_number, sale_date, changed_at, source_changed_at, record)
        = (excluded.customer_id, excluded.order_number, excluded.sale_date, excluded.changed_at, excluded.source_changed_at, excluded.record)`)
}

/** JSON without closing brace: the change timestamp is appended. */
const withoutBrace = (transaction: StoredTransaction) => JSON.stringify(transaction).slice(0, -1)

/**
 * Inserts transactions that Tillbridge creates. `source` selects the fields of `RetailTransaction` except for the change timestamp.
 * `optionalFields`: JSON of further fields, each with a comma before it.
 */
export const addTransactions = (tx: Db, service: Service, change: Change, source: Sql, optionalFields = sql`''`) =>
  tx.run(sql`
    insert into retail_transaction (service_id, id, customer_id, order_number, sale_date, changed_at, record)
    select ${service.id}, t.id, t."customerId", t."orderNumber", t."saleDate"::timestamp, ${change.at}, ${withTimestamp(sql`${withoutClosingBrace(sql`row_to_json(t)`)} || ${optionalFields}`, change)}
      from (${source}) t`)

/** Returns the customers of the sales with this order number, ignoring case. */
export const findBuyers = async (db: Db, service: Service, orderNumber: string): Promise<string[]> =>
  (
    await db.rows<{ id: string }>(sql`
      select distinct customer_id as id from retail_transaction
       where service_id = ${service.id} and lower(order_number) = lower(${orderNumber}) and customer_id is not null limit 3`)
  ).map(({ id }) => id)

/** Returns the JSON of a transaction. */
export const findTransaction = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(sql`select record from retail_transaction where service_id = ${service.id} and id = ${id}`)

function parseStored(record: string): StoredTransaction {
  const { updateTimeStamp: _, ...transaction } = JSON.parse(record) as RetailTransaction
  return transaction
}

const toDated = ({ header, updateTimeStamp }: TransactionParts) => ({
  updateTimeStamp: updateTimeStamp ?? header.saleDate,
})

interface Filters {
  customerId?: string | undefined
  updatedAfter?: string | undefined
  updatedBefore?: string | undefined
  soldAfter?: string | undefined
  soldBefore?: string | undefined
  /**
   * Orders by sale date, oldest or newest first. Undefined: by change if `updatedAfter` is set, otherwise newest sale first. Chunks of an
   * export have the oldest first.
   */
  ascending?: boolean | undefined
}

const bySale = { column: sql`sale_date`, type: 'timestamp' } as const

/** Returns a page of transactions, in an order that an index serves. The ID breaks ties. */
export function readTransactionPage(db: Db, service: Service, filters: Filters, request: PageRequest) {
  const { customerId, ascending } = filters
  const isOfCustomer = filter(customerId, id => sql`and customer_id = ${id}`)
  const isByChange = ascending === undefined && filters.updatedAfter !== undefined
  const changedAfter = isByChange ? filters.updatedAfter : undefined
  const changed = between(
    sql`changed_at`,
    [isByChange ? undefined : filters.updatedAfter, filters.updatedBefore],
    timestamp => opaqueParam(timestamp, 'timestamptz'),
  )
  const sold = between(
    sql`sale_date`,
    [filters.soldAfter, filters.soldBefore],
    instant => sql`(${opaqueParam(instant, 'timestamptz')} at time zone ${service.settings.timeZone})`,
  )
  const list = {
    table: 'retail_transaction',
    record: sql`record`,
    key: sql`id`,
    live: customerId !== undefined,
    changedAfter,
  } as const
  const newestFirst = !isByChange && !(ascending ?? request.asLines)
  const [order, rangeOfOrder, scanFilter] = isByChange ? [byChangeTimestamp, changed, sold] : [bySale, sold, changed]
  const source = { ...list, order, descending: newestFirst, where: sql`${isOfCustomer} ${rangeOfOrder ?? sql``}` }
  if (!scanFilter) return readPage(db, service, source, request)
  return readFilteredScan(
    db,
    service,
    source,
    { where: scanFilter, column: isByChange ? bySale.column : byChangeTimestamp.column },
    request,
  )
}

/** Conditions for an exclusive range, each beginning with `and`. Returns undefined if both ends are undefined. */
function between(
  column: Sql,
  [after, before]: [string | undefined, string | undefined],
  bound: (timestamp: string) => Sql,
) {
  if (after === undefined && before === undefined) return
  return sql`
    ${filter(after, timestamp => sql`and ${column} > ${bound(timestamp)}`)}
    ${filter(before, timestamp => sql`and ${column} < ${bound(timestamp)}`)}`
}
