import { Type } from '../schemas/schemas.ts'
import { Instant, OneOf } from './values/fields.ts'
/** The maximum length of a cursor of all kinds, whose IDs can be long. It fits into a URL. */
export const maxCursorLength = 6_000

/** The kinds of records in the change feed. Vouchers are left out: their numbers are half of a secret. */
export const changeKinds = [
  'store',
  'staff',
  'product',
  'inventory',
  'customer',
  'transaction',
  'order',
  'return',
  'shipment',
  'reward-account',
] as const
export type Kind = (typeof changeKinds)[number]

/** The paths of the records of each kind, without the name of the record. */
export const pathsByKind = {
  store: '/stores',
  staff: '/staff',
  product: '/products',
  inventory: '/inventory',
  customer: '/customers',
  transaction: '/transactions',
  order: '/orders',
  return: '/returns',
  shipment: '/shipments',
  'reward-account': '/rewards/accounts',
} as const satisfies Record<Kind, string>

/** The fields of a change, without the record. */
export const changeFields = {
  kind: OneOf('The kind of record.', changeKinds),
  id: Type.String({ description: 'The ID of the record.', examples: ['65432'] }),
  action: OneOf('`changed` includes created. `removed`: the record no longer exists.', ['changed', 'removed']),
  changedAt: Instant('The time of the latest change of the record.', '2026-11-21T09:31:27.803870Z'),
  path: Type.Optional(
    Type.String({ description: 'The path of the record. Absent if it was removed.', examples: ['/customers/65432'] }),
  ),
}
