import { Store, StoreChange, storeKinds } from '../domain/catalog/stores.ts'
import { OneOf } from '../domain/values/fields.ts'
import { notFound } from '../errors/api-error.ts'
import { Filter } from '../http/pagination/lists.ts'
import { get, list, put } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findStore, lockStore, mergeStores, readStorePage } from '../store/catalog/stores.ts'

const params = { storeNumber: { description: "The store's number.", example: '123' } }

/** Stores, warehouses and web stores. Read-only except for the inventory buffer: the back office owns them. */
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
      readStorePage(db, service, { locationId: query.ecommerce_location_id, kind: query.kind }, page),
  ),

  get(
    '/stores/:storeNumber',
    {
      operationId: 'getStore',
      tag: 'Stores',
      summary: 'Get a store',
      description: 'By its store number, which is a string: `008` is not `8`.',
      params,
      response: Store,
      recordName: 'store',
      etag: true,
    },
    ({ db, service, params: { storeNumber } }) => findStore(db, service, storeNumber),
  ),

  put(
    '/stores/:storeNumber',
    {
      operationId: 'updateStore',
      tag: 'Stores',
      role: 'admin',
      summary: 'Update a store',
      description:
        "Changes the store's inventory buffer. Null removes it, so that the service's buffer applies. The store's stock changes with it.",
      params,
      body: StoreChange,
      loadStored: (db, service, { storeNumber }) => findStore(db, service, storeNumber),
      response: Store,
      etag: true,
      errors: ['precondition_failed', 'precondition_required'],
    },
    ({ service, body: { inventoryBuffer }, params: { storeNumber }, requireMatch }) =>
      async tx => {
        const store = await lockStore(tx, service, storeNumber)
        if (!store) throw notFound('store')
        requireMatch(store.record)
        await mergeStores(tx, service, [{ storeId: store.storeId, inventoryBuffer }])
        const record = (await findStore(tx, service, storeNumber))?.record ?? store.record
        return { record, subject: `/stores/${encodeURIComponent(storeNumber)}` }
      },
  ),
]
