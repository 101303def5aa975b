import { type Static, Type } from '../schemas/schemas.ts'
import { Id, LocalTime, Nullable, OneOf, Text } from './values/fields.ts'

/** The account and the request that a write is recorded with. */
export interface Actor {
  username: string
  requestId: string
}

/** The account of a write, and the name of its API key. Records of money keep it longer than the audit log. */
export interface Writer {
  username: string
  apiKey?: string | undefined
}

/** A changed value of a setting, role or mapping. Null: no value. Lists and objects are JSON. */
export type AuditChange = Static<typeof AuditChange>
const AuditChange = Type.Object(
  {
    field: Text('The field, or the record of a batch.', 'currency'),
    before: Nullable(Text('The old value.', 'AUD')),
    after: Nullable(Text('The new value.', 'NZD')),
  },
  { $id: 'AuditChange', additionalProperties: false },
)

const toText = (value: unknown) =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** Lists the fields whose values differ. Must not be called with personal or secret values. */
export const listChanges = (before: object, after: object): AuditChange[] => {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...old.keys(), ...now.keys()])]
    .map(field => ({ field, before: toText(old.get(field)), after: toText(now.get(field)) }))
    .filter(change => change.before !== change.after)
}

const auditGroups = ['admin', 'data'] as const
export type AuditGroup = (typeof auditGroups)[number]
export const AuditGroupFilter = OneOf(
  '`data`: writes of customers, orders, returns, reservations, coupons, rewards and vouchers. `admin`: all others.',
  auditGroups,
)

/** Writes of the group `data`. To suspend, resume, unlock or resend a voucher is administration. */
const dataOperation =
  /^(POST|PUT|DELETE) \/(customers|orders|returns|reservations|coupons|rewards|vouchers(?!.*\/(suspend|resume|unlock|resend)$))(\/|$)/

/** Returns the group of an operation, such as `POST /orders` or `service set`. */
export const getAuditGroup = (operation: string): AuditGroup => (dataOperation.test(operation) ? 'data' : 'admin')

/** An entry of the audit log. It has no values except those in `changes`, because they can be personal or secret. */
export type Audit = Static<typeof Audit>
export const Audit = Type.Object(
  {
    id: Id('The ID of the entry.', '0b7c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    at: LocalTime('The time of the write.', '2026-11-21 12:00:00'),
    username: Text('The account of the write.', 'webshop'),
    operation: Text('The operation: method and path with parameter names.', 'PUT /customers/:id'),
    subject: Text('The path of the record.', '/customers/65432'),
    fields: Type.Array(Type.String({ examples: ['contact.email'] }), {
      description: 'The paths of the fields in the body.',
      examples: [['firstname', 'contact.email']],
    }),
    changes: Nullable(
      Type.Array(AuditChange, {
        description: 'The changed values of settings, roles and mappings. Null for other records.',
      }),
    ),
    requestId: Text('The request of the write.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'),
    agent: Nullable(
      Text('The agent that acted for the account, as `X-Agent` named it. Null without one.', 'claude 4.1', 100),
    ),
    apiKey: Nullable(Text('The name of the API key of the write. Null: a password.', 'web-shop', 50)),
  },
  { $id: 'Audit', additionalProperties: false },
)
