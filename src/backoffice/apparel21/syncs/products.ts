import type { SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { decimalsOf } from '../../../domain/values/money.ts'
import type { Client } from '../client/client.ts'
import { pagesOf, type Report } from '../client/pagination.ts'
import type { Release } from '../client/release.ts'
import { productChangedAt, productIdOf, productRowsFrom, skuIdsOf } from '../mapping/products.ts'
import { carried } from '../mapping/references.ts'
import { openReferenceBook } from '../queries/reference-cache.ts'
import { translated } from '../xml/untranslatable.ts'
import { text } from '../xml/values.ts'
import { trackFetch } from './checkpoint.ts'
import { toldBy } from './reported.ts'

/** The styles that the web store exports, or those that changed; nothing where the release cannot tell which did. */
export async function* fetchProducts(
  client: Client,
  release: Release,
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const { since, settings, signal } = request
  if (since !== undefined && !(await release.surelyHas('productsByChange'))) {
    yield { end: { isIdle: true } }
    return
  }
  const fetched = trackFetch({ ...client.connection, ...client.limits })
  const book = openReferenceBook(client, signal)
  const decimals = decimalsOf(settings.currency)
  const told = toldBy(client, settings)
  const report: Report = {}
  const pages = pagesOf(
    client,
    {
      endpoint: 'products',
      path: ['Products'],
      roots: ['Products', 'Product'],
      record: 'Product',
      signal,
      query: { updatedAfter: since, order: '{id:asc}' },
      keyOf: product => text(product, 'Id') ?? '',
    },
    report,
  )
  for await (const page of pages) {
    const typeNames = await book.namesFor(page)
    const { rows, rejected } = translated(page, product => {
      const { rows, rejected } = productRowsFrom(product, { typeNames, decimals })
      const stamp = told(productChangedAt(product))
      return { rows: rows.map(row => ({ ...row, product: { ...row.product, ...stamp } })), rejected }
    })
    const keys = page.flatMap(carried).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    const ids = translated(page, productIdOf).rows
    for (const product of page) fetched.show(productChangedAt(product))
    yield {
      rows: {
        references: await book.missing(await request.unknownReferences(keys)),
        products: rows.flatMap(product => product.rows),
      },
      seen: [
        { list: 'product', ids },
        { list: 'variant', ids: page.flatMap(skuIdsOf) },
      ],
      rejected: [...rejected, ...rows.flatMap(product => product.rejected)],
      isSeenIncomplete: ids.length < page.length,
    }
  }
  yield { end: { ...fetched.end(), ...totalOf('product', report) } }
}

export const totalOf = (list: string, { total }: Report) =>
  total === undefined ? {} : { total: { list, atLeast: total } }
