import type { SyncBatch, SyncRequest, SyncStockRow } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import type { ReleaseReader } from '../client/release.ts'
import { parseChangedStock, parseFreeStock, readLastChange } from '../mapping/stock.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { parseInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { createTimestampConverter, toLocalTime, trackFetch } from './checkpoint.ts'

/** Rows per batch. */
const batchRows = 1_000

/**
 * Milliseconds that the first incremental sync starts before the full sync, whose response has no timestamps. Longer than any difference
 * between two time zones, so a wrong clock or zone of the back office loses no change.
 */
const initialLookbackMs = 26 * 3_600_000

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
  yield { end: { since: toLocalTime(beganMs - initialLookbackMs, client.connection.timeZone) } }
}

/** Fetches the changed stock of all stores, as absolute quantities. */
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
  const convertTimestamp = createTimestampConverter(client, settings)
  // The response has one change time per store, not per SKU.
  const parseStore = (store: Xml) => {
    const { rows, rejected } = parseChangedStock(store)
    return { rows: rows.map(row => ({ ...row, ...convertTimestamp(readLastChange(store)) })), rejected }
  }
  yield* buildBatches(records, parseStore, store => fetched.add(readLastChange(store)))
  yield { end: fetched.end() }
}

/** Fetches all stock in one response. Pages would shift while stock is sold, and skipped styles would count as sold out. */
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
  yield* buildBatches(records, parseFreeStock, () => styles++)
  const total = parseInteger(root?.attributes.TotalRows) ?? undefined
  if (total !== undefined && total !== styles) {
    client.connection.log?.warn({ total, styles }, 'stock response incomplete')
    throw new ApiError('back_office_error')
  }
}

/** Fetches stock style by style, for releases that can't return all stock at once. */
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
  for await (const page of pages) yield* buildBatches(fetchStyles(client, page, signal), parseFreeStock)
}

async function* fetchStyles(client: Client, products: readonly Xml[], signal: AbortSignal): AsyncGenerator<Xml> {
  for (const product of products) {
    const path = ['Freestock', 'style', readText(product, 'Id') ?? '']
    const style = await client.document({ endpoint: 'stock', path, roots: ['Style', 'Clr', 'Sku'], signal })
    if (style) yield style
  }
}

async function* buildBatches(
  records: AsyncIterable<Xml>,
  parse: typeof parseFreeStock,
  onRecord: (record: Xml) => void = () => {},
): AsyncGenerator<SyncBatch> {
  let stock: SyncStockRow[] = []
  let rejected: string[] = []
  for await (const record of records) {
    onRecord(record)
    const converted = convertRecords([record], parse)
    stock.push(...converted.rows.flatMap(({ rows }) => rows))
    rejected.push(...converted.rejected, ...converted.rows.flatMap(row => row.rejected))
    if (stock.length < batchRows) continue
    yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
    stock = []
    rejected = []
  }
  if (stock.length || rejected.length) yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
}
