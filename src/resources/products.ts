import { Product } from '../domain/catalog/products.ts'
import { LocalTime } from '../domain/values/fields.ts'
import type { FieldError } from '../errors/api-error.ts'
import { Filter, updatedAfterParameter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findProduct, readProductPage } from '../store/catalog/products.ts'
import { findPurgedAfter } from '../store/lists/tombstones.ts'

const RemovedProduct = Type.Object(
  {
    id: Type.String({ description: 'The ID of the removed product.', examples: ['5001'] }),
    removed: Type.Literal(true, { description: 'The product was removed.', examples: [true] }),
    updateTimeStamp: LocalTime('When the product was removed.', '2026-11-21 20:31:27'),
  },
  { $id: 'RemovedProduct', additionalProperties: false },
)

const ListedProduct = Type.Union([Product, RemovedProduct], {
  $id: 'ListedProduct',
  description: 'A product, or with `removed=true` also a removed product.',
})

const removedConflict: FieldError = {
  parameter: 'removed',
  code: 'invalid_parameter',
  detail: "`removed` requires `updated_after` and can't be combined with `code` or `sku`.",
}

/** Products with their colours and sizes. */
export const products = [
  list(
    '/products',
    {
      operationId: 'listProducts',
      sync: 'products',
      tag: 'Products',
      summary: 'List products',
      description: 'Each product has all its colours, and each colour all its sizes with price and barcode.',
      query: Type.Object({
        code: Filter('Only the product with this style code.', 'MH01'),
        sku: Filter('Only the product with this e-commerce SKU.', 'MH01-XS-Black'),
        updated_after: updatedAfterParameter,
        removed: Type.Optional(
          Type.Boolean({
            description:
              "True to include products that were removed after `updated_after`. Can't be combined with `code` or `sku`.",
            default: false,
            examples: [false],
          }),
        ),
      }),
      item: ListedProduct,
      validate: ({ removed }, names) =>
        removed && (!names.has('updated_after') || names.has('code') || names.has('sku')) ? [removedConflict] : [],
    },
    async ({ db, service, query: { code, sku, updated_after: updatedAfter, removed } }, pageRequest) => {
      const page = await readProductPage(db, service, { code, sku, updatedAfter, removed }, pageRequest)
      const purgedUntil = removed && updatedAfter && (await findPurgedAfter(db, service, 'product', updatedAfter))
      if (!purgedUntil) return page
      const detail = `Removals up to ${purgedUntil} are no longer stored, so earlier removals can be missing.`
      return { page, warnings: [{ code: 'removals_forgotten', detail }] }
    },
  ),

  get(
    '/products/:id',
    {
      operationId: 'getProduct',
      tag: 'Products',
      summary: 'Get a product',
      description: 'The product with all its colours and sizes.',
      params: { id: { description: 'The product.', example: '5001' } },
      response: Product,
      recordName: 'product',
      etag: true,
    },
    ({ db, service, params }) => findProduct(db, service, params.id),
  ),
]
