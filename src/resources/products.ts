import { Type } from 'typebox'
import { Product } from '../domain/goods/products.ts'
import type { Api } from '../http/api.ts'
import { Filter, updatedAfter } from '../http/lists.ts'
import { productPage, productRecord } from '../store/goods/products.ts'

/** Contract 3. */
export function products(api: Api) {
  api.list(
    '/products',
    {
      operationId: 'listProducts',
      feed: 'products',
      tag: 'Products',
      summary: 'Products with their colours and sizes.',
      description: 'A product holds all its colours, and each colour all its sizes with price and barcode.',
      query: Type.Object({
        code: Filter('Only the product with this style code.', 'MH01'),
        sku: Filter('Only the product that this e-commerce SKU belongs to.', 'MH01-XS-Black'),
        updated_after: updatedAfter,
      }),
      item: Product,
    },
    ({ db, service, query }, asked) =>
      productPage(db, service, { code: query.code, sku: query.sku, updatedAfter: query.updated_after }, asked),
  )

  api.get(
    '/products/:id',
    {
      operationId: 'getProduct',
      tag: 'Products',
      summary: 'One product.',
      description: 'With all its colours and sizes.',
      params: { id: { description: 'The product.', example: '5001' } },
      answer: Product,
      kind: 'product',
      etag: true,
    },
    ({ db, service, params }) => productRecord(db, service, params.id),
  )
}
