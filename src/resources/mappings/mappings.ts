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
import { OneOf } from '../../domain/values/fields.ts'
import { type ErrorCode, notFound } from '../../errors/api-error.ts'
import { get, list, put } from '../../http/routing/route-definitions.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import { listMappingChanges } from '../../store/mappings/change-mapping.ts'
import type { MappingFields } from '../../store/mappings/fixes.ts'
import { findMapping, lockMapping, readMappingPage } from '../../store/mappings/mappings.ts'
import { buildPath, changeMapping, names } from './change-mapping.ts'

/** Links stores, SKUs and customers to the e-commerce platform. */
export const mappings = [
  ...defineMapping({
    kind: 'stores',
    id: { description: "The back office's ID of the store.", example: '1001' },
    state: 'has a location',
    effect: 'Inventory and stores return it as `ecommerceLocationId`.',
    item: StoreMapping,
    body: StoreMappingChange,
  }),

  ...defineMapping({
    kind: 'skus',
    id: { description: "The back office's own ID of the SKU (`skuId`).", example: '12001' },
    state: 'has an e-commerce SKU other than its `skuId`',
    effect:
      'Products and inventory return the e-commerce SKU as `sku`, and orders accept it. Existing sales and orders keep the SKU they were made with.',
    item: SkuMapping,
    body: SkuMappingChange,
    errors: ['sku_taken'],
  }),

  ...defineMapping({
    kind: 'customers',
    id: { description: 'The ID of the customer.', example: '65432' },
    state: 'has an e-commerce identifier in either form',
    effect: 'Customers return them. The back office is not involved.',
    item: CustomerMapping,
    body: CustomerMappingChange,
  }),
]

interface MappingDefinition {
  kind: MappedKind
  id: { description: string; example: string }
  /** The condition for the state `mapped`. */
  state: string
  /** Sentences about what the mapping changes in the API. */
  effect: string
  item: TSchema
  body: TSchema
  errors?: readonly ErrorCode[]
}

function defineMapping({ kind, id, state, effect, item, body, errors = [] }: MappingDefinition) {
  const { name, noun } = names[kind]
  const [tag, role] = ['Mappings', 'admin'] as const
  const path = `/mappings/${kind}/:id`

  return [
    list(
      `/mappings/${kind}`,
      {
        operationId: `list${name}Mappings`,
        tag,
        role,
        summary: `List ${noun} mappings`,
        description: 'Ordered by ID.',
        query: Type.Object({
          state: Type.Optional(OneOf(`Only this state. \`mapped\`: the record ${state}.`, mappingStates)),
        }),
        item,
      },
      ({ db, service, query }, page) => readMappingPage(db, service, kind, query.state, page),
    ),

    get(
      path,
      {
        operationId: `get${name}Mapping`,
        tag,
        role,
        summary: `Get a ${noun} mapping`,
        description: 'A field is null if it is not mapped.',
        params: { id },
        response: item,
        recordName: noun,
        etag: true,
      },
      ({ db, service, params }) => findMapping(db, service, kind, params.id),
    ),

    put(
      path,
      {
        operationId: `map${name}`,
        tag,
        role,
        summary: `Map a ${noun}`,
        description: `Keeps fields that the body doesn't mention; null unmaps. ${effect}`,
        params: { id },
        body,
        response: item,
        etag: true,
        errors: [...errors, 'precondition_failed', 'precondition_required'],
      },
      ({ service, params, body: input, requireMatch }) =>
        async tx => {
          const before = await lockMapping(tx, service, kind, params.id)
          if (!before) throw notFound(noun)
          requireMatch(before.record)
          const change = { id: params.id, before: before.record, change: input as MappingFields }
          const record = await changeMapping(tx, service, kind, change)
          const changes = listMappingChanges(kind, JSON.parse(before.record), JSON.parse(record))
          return { record, subject: buildPath(kind, params.id), ...(changes && { changes }) }
        },
    ),
  ]
}
