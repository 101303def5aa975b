import { Store, storeKinds } from '../domain/catalog/stores.ts'
import { OneOf } from '../domain/values/fields.ts'
import { Filter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findStore, storePage } from '../store/catalog/stores.ts'

/** Stores, warehouses and web stores. Read-only: the back office owns them. */
export const stores = [
  list(
    '/stores',
    {
      operationId: 'listStores',
      sync: 'stores',
      tag: 'Stores',
      summary: 'List stores',
      description:
        'All locations with stock to sell, in one response (at most 10,000). With `limit`, in pages. For shops only, send `kind=store`.',
      query: Type.Object({
        ecommerce_location_id: Filter(
          'Only the stores mapped to this location of the e-commerce platform.',
          '6884556842',
        ),
        kind: Type.Optional(OneOf('Only locations of this kind.', storeKinds)),
      }),
      item: Store,
      defaultLimit: 10_000,
    },
    ({ db, service, query }, page) =>
      storePage(db, service, { locationId: query.ecommerce_location_id, kind: query.kind }, page),
  ),

  get(
    '/stores/:storeNumber',
    {
      operationId: 'getStore',
      tag: 'Stores',
      summary: 'Get a store',
      description: 'By its store number, which is a string: `008` is not `8`.',
      params: { storeNumber: { description: "The store's number.", example: '123' } },
      response: Store,
      recordName: 'store',
      etag: true,
    },
    ({ db, service, params }) => findStore(db, service, params.storeNumber),
  ),
]
