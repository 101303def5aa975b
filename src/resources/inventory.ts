import type { BackOffice } from '../backoffice/port/back-office.ts'
import { StockLevel } from '../domain/inventory/stock-level.ts'
import { notFound } from '../errors/api-error.ts'
import { Filter, updatedAfterParameter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findSkus } from '../store/catalog/skus.ts'
import { findStock, readStockPage } from '../store/inventory/stock-records.ts'

const explain = Type.Optional(
  Type.Boolean({ description: 'True: each level has an `explanation` of its numbers.', examples: [true] }),
)

/** Stock levels by store and SKU. */
export const inventory = [
  list(
    '/inventory',
    {
      operationId: 'listInventory',
      sync: 'stock',
      tag: 'Inventory',
      summary: 'List stock levels',
      description: 'Stock levels with the inventory buffer that applies. An unknown `sku` returns 404.',
      query: Type.Object({
        sku: Filter('Only this e-commerce SKU.', 'MH01-XS-Black'),
        store_number: Filter('Only this store.', '123'),
        updated_after: updatedAfterParameter,
        explain,
      }),
      item: StockLevel,
      errors: ['not_found'],
    },
    async ({ backOffice, db, service, query }, page) => {
      const { sku, store_number, updated_after } = query
      const [variant] = sku === undefined ? [] : await findSkus(db, service, [sku])
      if (sku !== undefined && !variant) throw notFound('SKU')
      return readStockPage(
        db,
        service,
        {
          skuId: variant?.skuId,
          storeNumber: store_number,
          updatedAfter: updated_after,
          explained: chooseExplanation(backOffice, query),
        },
        page,
      )
    },
  ),

  get(
    '/inventory/:id',
    {
      operationId: 'getStockLevel',
      tag: 'Inventory',
      summary: 'Get a stock level',
      description: 'By the `id` of the list: the store ID and the SKU.',
      params: { id: { description: 'Store ID and SKU.', example: '1001-MH01-XS-Black' } },
      query: Type.Object({ explain }),
      response: StockLevel,
      recordName: 'stock level',
      etag: true,
    },
    ({ backOffice, db, service, params, query }) =>
      findStock(db, service, params.id, chooseExplanation(backOffice, query)),
  ),
]

/** Returns what the explanation shows of the back office, or undefined if none is requested. */
const chooseExplanation = ({ unshippedUnits }: BackOffice, query: { explain?: boolean }) =>
  query.explain ? { unshipped: unshippedUnits } : undefined
