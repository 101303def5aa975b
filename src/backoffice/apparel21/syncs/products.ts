import type { SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { getDecimals } from '../../../domain/values/money.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { type ListSummary, readPages } from '../client/pagination.ts'
import type { ReleaseReader } from '../client/release.ts'
import {
  parsePriceChanges,
  parseProduct,
  readProductChangedAt,
  readProductId,
  readSkuIds,
} from '../mapping/products.ts'
import { readReferences } from '../mapping/references.ts'
import { createReferenceCache } from '../queries/reference-cache.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { readText } from '../xml/values.ts'
import { createTimestampConverter, trackFetch } from './checkpoint.ts'

/** Fetches the styles that the web store exports, or the changed ones. If the release can't list changes, the incremental sync is idle. */
export async function* fetchProducts(
  client: Client,
  release: ReleaseReader,
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const { since, settings, signal } = request
  if (since !== undefined && !(await release.hasOrThrow('productsByChange'))) {
    yield { end: { isIdle: true } }
    return
  }
  const fetched = trackFetch({ ...client.connection, ...client.limits })
  const references = createReferenceCache(client, signal)
  const decimals = getDecimals(settings.currency)
  const convertTimestamp = createTimestampConverter(client, settings)
  const summary: ListSummary = {}
  const pages = readPages(
    client,
    {
      endpoint: 'products',
      path: ['Products'],
      roots: ['Products', 'Product'],
      record: 'Product',
      signal,
      query: { updatedAfter: since, order: '{id:asc}' },
      getKey: product => readText(product, 'Id') ?? '',
    },
    summary,
  )
  for await (const page of pages) {
    const typeNames = await references.getNamesFor(page)
    const { rows, rejected } = convertRecords(page, product => {
      const { rows: productRows, rejected: productErrors } = parseProduct(product, { typeNames, decimals })
      const timestamp = convertTimestamp(readProductChangedAt(product, client.connection.timeZone))
      return {
        rows: productRows.map(row => ({ ...row, product: { ...row.product, ...timestamp } })),
        rejected: productErrors,
      }
    })
    const keys = page.flatMap(readReferences).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    const ids = convertRecords(page, readProductId).rows
    for (const product of page) fetched.add(readProductChangedAt(product, client.connection.timeZone))
    yield {
      rows: {
        references: await references.fetchRows(await request.unknownReferences(keys)),
        products: rows.flatMap(product => product.rows),
      },
      seen: [
        { list: 'product', ids },
        { list: 'variant', ids: page.flatMap(readSkuIds) },
      ],
      rejected: [...rejected, ...rows.flatMap(product => product.rejected)],
      isSeenIncomplete: ids.length < page.length,
    }
  }
  if (await release.has('futurePrices')) yield* fetchPriceChanges(client, request, decimals)
  yield { end: { ...fetched.end(), ...toExpectedTotal('product', summary) } }
}

const skusPerBatch = 1_000

/**
 * Fetches all coming prices. A SKU that has none any more gets an empty list. Products don't depend on them: if the back office rejects
 * the request, the run only notes it.
 */
async function* fetchPriceChanges(
  client: Client,
  { signal, skusWithPriceChanges }: SyncRequest,
  decimals: number,
): AsyncGenerator<SyncBatch> {
  const changes = new Map<string, { from: string; price: string }[]>()
  try {
    const { records } = await client.list({
      endpoint: 'products',
      path: ['Products', 'FuturePrices'],
      roots: ['FuturePrices'],
      record: 'Style',
      size: 'bulk',
      signal,
    })
    for await (const style of records)
      for (const row of parsePriceChanges(style, decimals)) changes.set(row.skuId, row.changes)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'back_office_unavailable') throw error
    yield { rejected: ['Coming prices could not be read.'] }
    return
  }
  for (const skuId of await skusWithPriceChanges()) if (!changes.has(skuId)) changes.set(skuId, [])
  const rows = [...changes].map(([skuId, list]) => ({ skuId, changes: list }))
  for (let start = 0; start < rows.length; start += skusPerBatch)
    yield { rows: { priceChanges: rows.slice(start, start + skusPerBatch) } }
}

export const toExpectedTotal = (list: string, { total }: ListSummary) =>
  total === undefined ? {} : { total: { list, atLeast: total } }
