import type { SyncBatch, SyncRequest, SyncStockRow } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import type { ReleaseReader } from '../client/release.ts'
import { parseChangedStock, parseFreeStock, readLastChange, readLocations } from '../mapping/stock.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { parseInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { createTimestampConverter, toLocalTime, trackFetch } from './checkpoint.ts'
import { createLocationFinder, type LocationRows } from './locations.ts'

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
  yield* (await release.has('allStock')) ? fetchAllStock(client, request) : fetchStockByStyle(client, request)
  yield { end: { since: toLocalTime(beganMs - initialLookbackMs, client.connection.timeZone) } }
}

/** Fetches the changed stock of all stores, as absolute quantities. */
async function* fetchChangedStock(client: Client, since: string, request: SyncRequest): AsyncGenerator<SyncBatch> {
  const { settings, signal } = request
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
  const { timeZone } = client.connection
  const convertTimestamp = createTimestampConverter(client, settings)
  // The response has one change time per store, not per SKU.
  const parseStore = (store: Xml) => {
    const { rows, rejected } = parseChangedStock(store)
    return { rows: rows.map(row => ({ ...row, ...convertTimestamp(readLastChange(store, timeZone)) })), rejected }
  }
  const findLocations = createLocationFinder(client, request)
  yield* buildBatches(records, parseStore, {
    onRecord: store => fetched.add(readLastChange(store, timeZone)),
    locate: (_, [first, ...details]) => {
      if (!first) return {}
      const inStock = [first, ...details].filter(({ freeStock }) => freeStock > 0)
      return findLocations([{ storeId: first.storeId, skuIds: inStock.flatMap(({ skuId }) => skuId ?? []) }])
    },
  })
  yield { end: fetched.end() }
}

/** Fetches all stock in one response. Pages would shift while stock is sold, and skipped styles would count as sold out. */
async function* fetchAllStock(client: Client, request: SyncRequest): AsyncGenerator<SyncBatch> {
  const { root, records } = await client.list({
    endpoint: 'stock',
    path: ['Freestock', 'AllStyles'],
    size: 'bulk',
    signal: request.signal,
    roots: ['FreeStock', 'Freestock'],
    record: 'Style',
  })
  let styles = 0
  yield* buildBatches(records, parseFreeStock, { onRecord: () => styles++, locate: locateStock(client, request) })
  const total = parseInteger(root?.attributes.TotalRows) ?? undefined
  if (total !== undefined && total !== styles) {
    client.connection.log?.warn({ total, styles }, 'stock response incomplete')
    throw new ApiError('back_office_error')
  }
}

/** Fetches stock style by style, for releases that can't return all stock at once. */
async function* fetchStockByStyle(client: Client, request: SyncRequest): AsyncGenerator<SyncBatch> {
  const { signal } = request
  const locate = locateStock(client, request)
  const pages = readPages(client, {
    endpoint: 'products',
    path: ['ProductsSimple'],
    roots: ['ProductsSimple'],
    record: 'ProductSimple',
    signal,
    query: { order: '{id:asc}' },
    getKey: product => readText(product, 'Id') ?? '',
  })
  for await (const page of pages) yield* buildBatches(fetchStyles(client, page, signal), parseFreeStock, { locate })
}

/** Creates the `locate` of a full sync. It reads the names of locations only from records that contain a new one. */
function locateStock(client: Client, request: SyncRequest): BatchOptions['locate'] {
  const findLocations = createLocationFinder(client, request)
  const seenIds = new Set<string>()
  return (record, rows) => {
    if (rows.every(({ storeId }) => seenIds.has(storeId))) return {}
    for (const { storeId } of rows) seenIds.add(storeId)
    return findLocations(readLocations(record))
  }
}

/** Fetches the stock of SKUs, one call per SKU. A SKU that is sold out everywhere has no rows. */
export async function fetchStockOfSkus(client: Client, skuIds: readonly string[], signal: AbortSignal) {
  const matches: { storeId: string; skuId: string; freeStock: number }[] = []
  for (const skuId of skuIds) {
    const path = ['Freestock', 'sku', skuId]
    const stock = await client.document({ endpoint: 'stock', path, roots: ['Sku', 'Clr', 'Style'], signal })
    if (stock)
      matches.push(...parseFreeStock(stock).rows.map(({ storeId, freeStock }) => ({ storeId, skuId, freeStock })))
  }
  return matches
}

async function* fetchStyles(client: Client, products: readonly Xml[], signal: AbortSignal): AsyncGenerator<Xml> {
  for (const product of products) {
    const path = ['Freestock', 'style', readText(product, 'Id') ?? '']
    const style = await client.document({ endpoint: 'stock', path, roots: ['Style', 'Clr', 'Sku'], signal })
    if (style) yield style
  }
}

interface BatchOptions {
  onRecord?: (record: Xml) => void
  /** Returns the rows of the locations of a record, which are stored before its stock. */
  locate: (record: Xml, rows: readonly SyncStockRow[]) => LocationRows | Promise<LocationRows>
}

async function* buildBatches(
  records: AsyncIterable<Xml>,
  parse: typeof parseFreeStock,
  { onRecord = () => {}, locate }: BatchOptions,
): AsyncGenerator<SyncBatch> {
  let stock: SyncStockRow[] = []
  let rejected: string[] = []
  for await (const record of records) {
    onRecord(record)
    const converted = convertRecords([record], parse)
    const { stores = [], locations = [] } = await locate(
      record,
      converted.rows.flatMap(({ rows }) => rows),
    )
    if (stores.length || locations.length) yield { rows: { stores, locations } }
    stock.push(...converted.rows.flatMap(({ rows }) => rows))
    rejected.push(...converted.rejected, ...converted.rows.flatMap(row => row.rejected))
    if (stock.length < batchRows) continue
    yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
    stock = []
    rejected = []
  }
  if (stock.length || rejected.length) yield { rows: { stock }, rejected, isSeenIncomplete: rejected.length > 0 }
}
