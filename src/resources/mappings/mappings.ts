import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import {
  CustomerMapping,
  CustomerMappingChange,
  mappingStates,
  SkuMapping,
  SkuMappingChange,
  StoreMapping,
  StoreMappingChange,
} from '../../domain/mappings/mappings.ts'
import { Words } from '../../domain/values/fields.ts'
import { type ErrorCode, notFound } from '../../errors/api-error.ts'
import type { Api } from '../../http/routing/api.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import type { MappingFields } from '../../store/mappings/fixes.ts'
import { heldMapping, mappingPage, mappingRecord } from '../../store/mappings/mappings.ts'
import { changeMapping, names, pathOf } from './change-mapping.ts'

/** What stores, SKUs and customers are in the e-commerce platform (contract 15). */
export function mappings(api: Api) {
  mapping(api, {
    kind: 'stores',
    id: { description: "The back office's identifier of the store.", example: '1001' },
    state: 'has a location',
    about: 'Inventory and stores show it as `ecommerceLocationId`.',
    item: StoreMapping,
    body: StoreMappingChange,
  })

  mapping(api, {
    kind: 'skus',
    id: { description: "The back office's own identifier of the SKU.", example: '12001' },
    state: 'has a SKU there, other than its `skuId`',
    about:
      'What is called `sku` elsewhere: products and inventory show it, orders take it. Sales and orders keep the one of their day.',
    item: SkuMapping,
    body: SkuMappingChange,
    errors: ['sku_taken'],
  })

  mapping(api, {
    kind: 'customers',
    id: { description: 'The customer.', example: '65432' },
    state: 'has an identifier there, in either form',
    about: 'Customers show them. The back office is not asked, nor told.',
    item: CustomerMapping,
    body: CustomerMappingChange,
  })
}

interface Mapped {
  kind: MappedKind
  id: { description: string; example: string }
  /** What a mapped one does. */
  state: string
  about: string
  item: TSchema
  body: TSchema
  errors?: readonly ErrorCode[]
}

function mapping(api: Api, { kind, id, state, about, item, body, errors = [] }: Mapped) {
  const { name, one } = names[kind]
  const [tag, role] = ['Mappings', 'admin'] as const
  const path = `/mappings/${kind}/:id`

  api.list(
    `/mappings/${kind}`,
    {
      operationId: `list${name}Mappings`,
      tag,
      role,
      summary: `List ${one} mappings`,
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
      summary: `Get a ${one} mapping`,
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
      summary: `Map a ${one}`,
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
        const change = { id: params.id, before: before.record, change: body as MappingFields }
        const record = await changeMapping(tx, service, kind, change)
        return { record, subject: pathOf(kind, params.id) }
      },
  )
}
