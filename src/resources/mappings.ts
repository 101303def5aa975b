import type { Db } from '../db.ts'
import { ecommerceIdsOf } from '../domain/customers/input.ts'
import { Words } from '../domain/fields.ts'
import {
  CustomerMapping,
  CustomerMappingChange,
  mappingStates,
  SkuMapping,
  SkuMappingChange,
  StoreMapping,
  StoreMappingChange,
} from '../domain/mappings/mappings.ts'
import { type ErrorCode, notFound } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { refuse } from '../refuse.ts'
import type { Service } from '../settings.ts'
import { type Static, type TSchema, Type } from '../shapes/shapes.ts'
import { mergeCustomers } from '../store/customers/customers.ts'
import { mergeStores } from '../store/goods/stores.ts'
import { heldMapping, type MappedKind, mappingPage, mappingRecord } from '../store/mappings/mappings.ts'
import { mapSku } from '../store/mappings/writes.ts'

/** What stores, SKUs and customers are in the e-commerce platform (contract 15). */
export function mappings(api: Api) {
  mapping(api, {
    kind: 'stores',
    name: 'Store',
    one: 'store',
    id: { description: "The back office's identifier of the store.", example: '1001' },
    state: 'has a location',
    about: 'Inventory and stores show it as `ecommerceLocationId`.',
    item: StoreMapping,
    body: StoreMappingChange,
    async map(tx, service, storeId, change) {
      await mergeStores(tx, service, [{ storeId, ...change }])
    },
  })

  mapping(api, {
    kind: 'skus',
    name: 'Sku',
    one: 'SKU',
    id: { description: "The back office's own identifier of the SKU.", example: '12001' },
    state: 'has a SKU there, other than its `skuId`',
    about:
      'What is called `sku` elsewhere: products and inventory show it, orders take it. Sales and orders keep the one of their day.',
    item: SkuMapping,
    body: SkuMappingChange,
    errors: ['sku_taken'],
    async map(tx, service, skuId, change) {
      if (await mapSku(tx, service, { skuId, ...change })) return
      const detail = `Another SKU goes by ${change.ecommerceSku ?? skuId}.`
      refuse([{ pointer: '/ecommerceSku', code: 'sku_taken', detail }])
    },
  })

  mapping(api, {
    kind: 'customers',
    name: 'Customer',
    one: 'customer',
    id: { description: 'The customer.', example: '65432' },
    state: 'has an identifier there, in either form',
    about: 'Customers show them. The back office is not asked, nor told.',
    item: CustomerMapping,
    body: CustomerMappingChange,
    async map(tx, service, id, change) {
      await mergeCustomers(tx, service, [{ id, ...ecommerceIdsOf(change) }])
    },
  })
}

interface Mapped<B extends TSchema> {
  kind: MappedKind
  /** What it is in the names of its operations. */
  name: string
  one: string
  id: { description: string; example: string }
  /** What a mapped one does. */
  state: string
  about: string
  item: TSchema
  body: B
  errors?: readonly ErrorCode[]
  map: (tx: Db, service: Service, id: string, change: Static<B>) => Promise<void>
}

function mapping<B extends TSchema>(
  api: Api,
  { kind, name, one, id, state, about, item, body, errors = [], map }: Mapped<B>,
) {
  const [tag, role] = ['Mappings', 'admin'] as const
  const path = `/mappings/${kind}/:id`

  api.list(
    `/mappings/${kind}`,
    {
      operationId: `list${name}Mappings`,
      tag,
      role,
      summary: `The ${kind === 'skus' ? 'SKUs' : kind}, with what each is in the e-commerce platform.`,
      description: 'Ordered by the identifier.',
      query: Type.Object({
        state: Type.Optional(Words(`Only those of which it is so: a \`mapped\` one ${state}.`, mappingStates)),
      }),
      item,
    },
    ({ db, service, query }, asked) => mappingPage(db, service, kind, query.state, asked),
  )

  api.get(
    path,
    {
      operationId: `get${name}Mapping`,
      tag,
      role,
      summary: `What one ${one} is in the e-commerce platform.`,
      description: 'Null where it is not mapped.',
      params: { id },
      answer: item,
      kind: one,
      etag: true,
    },
    ({ db, service, params }) => mappingRecord(db, service, kind, params.id),
  )

  api.put(
    path,
    {
      operationId: `map${name}`,
      tag,
      role,
      summary: `Says what one ${one} is in the e-commerce platform.`,
      description: `What the body does not mention stays; null takes it away. ${about}`,
      params: { id },
      body,
      answer: item,
      etag: true,
      errors: [...errors, 'precondition_failed', 'precondition_required'],
    },
    ({ service, params, body, requireMatch }) =>
      async tx => {
        const before = await heldMapping(tx, service, kind, params.id)
        if (!before) throw notFound(one)
        requireMatch(before.record)
        await map(tx, service, params.id, body)
        const after = await mappingRecord(tx, service, kind, params.id)
        if (!after) throw new Error('what is held stays')
        return { record: after.record, subject: `/mappings/${kind}/${encodeURIComponent(params.id)}` }
      },
  )
}
