import type { SyncBatch, SyncRequest, SyncStockRow } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import type { ReleaseReader } from '../client/release.ts'
import { parseChangedStock, parseFreeStock, readLastChange } from '../mapping/stock.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { parseInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { trackFetch, wallAt } from './checkpoint.ts'
import { toldBy } from './reported.ts'

/** Rows of a batch. */
const together = 1_000

/**
 * How far the first look at changes goes back behind all stock, which has no stamps. More than any two zones are apart: whatever the
 * head office's clock or zone is, it was not later than that there.
 */
const firstReachMs = 26 * 3_600_000

export async function* fetchStock(
  client: Client,
  release: ReleaseReader,
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  if (request.since !== undefined) return yield* fetchChangedStock(client, request.since, request)
  const beganMs = Date.now()
  yield* (await release.has('allStock'))
    ? fetchAllStock(client, request.signal)
    : fetchStockByStyle(client, request.signal)
  yield { end: { since: wallAt(beganMs - firstReachMs, client.connection.timeZone) } }
}

/** What changed in any store, as new absolute stock. */
async function* fetchChangedStock(
  client: Client,
  since: string,
  { settings, signal }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const fetched = trackFetch({ ...client.connection, ...client.limits })
  const { records } = await client.list({
    endpoint: 'stock',
    path: ['StockChanged'],
    query: { ChangedSince: since },
    version: 1,
    size: 'bulk',
    signal,
    roots: ['stockByStore'],
    record: 'store',
  })
  const told = toldBy(client, settings)
  // It tells when the stock of a store last changed, and not of which SKU.
  const changed = (store: Xml) => {
    const { rows, rejected } = parseChangedStock(store)
    return { rows: rows.map(row => ({ ...row, ...told(readLastChange(store)) })), rejected }
  }
  yield* batches(records, changed, store => fetched.show(readLastChange(store)))
  yield { end: fetched.end() }
}

/** All there is in one answer: pages would shift while stock is sold, and what they passed over would be taken for sold out. */
async function* fetchAllStock(client: Client, signal: AbortSignal): AsyncGenerator<SyncBatch> {
  const { root, records } = await client.list({
    endpoint: 'stock',
    path: ['Freestock', 'AllStyles'],
    size: 'bulk',
    signal,
    roots: ['FreeStock', 'Freestock'],
    record: 'Style',
  })
  let styles = 0
  yield* batches(records, parseFreeStock, () => styles++)
  const total = parseInteger(root?.attributes.TotalRows) ?? undefined
  if (total !== undefined && total !== styles) {
    client.connection.log?.warn({ total, styles }, 'The answer with all stock has not as many styles as it says.')
    throw new ApiError('back_office_error')
  }
}

/** Style by style, for releases that cannot give all. */
async function* fetchStockByStyle(client: Client, signal: AbortSignal): AsyncGenerator<SyncBatch> {
  const pages = readPages(client, {
    endpoint: 'products',
    path: ['ProductsSimple'],
    roots: ['ProductsSimple'],
    record: 'ProductSimple',
    signal,
    query: { order: '{id:asc}' },
    getKey: product => readText(product, 'Id') ?? '',
  })
  for await (const page of pages) yield* batches(stylesOf(client, page, signal), parseFreeStock)
}

async function* stylesOf(client: Client, products: readonly Xml[], signal: AbortSignal): AsyncGenerator<Xml> {
  for (const product of products) {
    const path = ['Freestock', 'style', readText(product, 'Id') ?? '']
    const style = await client.document({ endpoint: 'stock', path, roots: ['Style', 'Clr', 'Sku'], signal })
    if (style) yield style
  }
}

async function* batches(
  records: AsyncIterable<Xml>,
  translate: typeof parseFreeStock,
  show: (record: Xml) => void = () => {},
): AsyncGenerator<SyncBatch> {
  let stock: SyncStockRow[] = []
  let rejected: string[] = []
  for await (const record of records) {
    show(record)
    const one = convertRecords([record], translate)
    stock.push(...one.rows.flatMap(({ rows }) => rows))
    rejected.push(...one.rejected, ...one.rows.flatMap(row => row.rejected))
    if (stock.length < together) continue
    yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
    stock = []
    rejected = []
  }
  if (stock.length || rejected.length) yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
}
