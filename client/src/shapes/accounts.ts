// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface AccountInput {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: 'visitor' | 'maintainer' | 'admin'
  /** True for a program. Default: a person. */
  isProgram?: boolean | null | undefined
}

export interface RoleChange {
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: 'visitor' | 'maintainer' | 'admin'
}

export interface ApiKeyInput {
  /** The name of the key, unique in the account: letters, digits, `.`, `_` and `-`. */
  name: string
  /** The groups of operations that the key can call. Null: all groups. */
  scopes?: ('accounts:read' | 'alerts:read' | 'alerts:write' | 'audit:read' | 'changes:read' | 'checkout:read' | 'checkout:write' | 'customers:read' | 'customers:write' | 'fulfilment:write' | 'gift-vouchers:read' | 'gift-vouchers:write' | 'imports:read' | 'imports:write' | 'inventory:read' | 'inventory:write' | 'mappings:read' | 'mappings:write' | 'orders:read' | 'orders:write' | 'payment-gateways:read' | 'privacy:read' | 'privacy:write' | 'products:read' | 'requests:read' | 'retail-transactions:read' | 'returns:read' | 'returns:write' | 'rewards:read' | 'rewards:write' | 'search:read' | 'service:read' | 'service:write' | 'staff:read' | 'stats:read' | 'stores:read' | 'stores:write' | 'syncs:read' | 'syncs:write' | 'webhooks:read' | 'webhooks:write')[] | null | undefined
  /** The numbers of the stores that the key is limited to. Null: all stores. */
  stores?: string[] | null | undefined
  /** Days until the key expires. Without it, the key never expires. */
  expiresInDays?: number | null | undefined
}

export interface ListedAccount extends Account {
  /** When the account last used this service, to the minute. Null if never. */
  lastUsedAt: string | null
}

export interface Account {
  /** The username. */
  username: string
  /** The role of the account in this service. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** True for a program, such as a web shop. False for a person. */
  isProgram: boolean
  /** The number of active passwords. After a rotation, there are two. */
  passwords: number
  /** Since when the account has this role. */
  since: string
}

export interface IssuedAccount extends Account {
  /** The new password, with 256 random bits. It is shown only once. */
  password: string
  /** The value to send after `Authorization: Basic`: the base64 of `username:password`. */
  apiKey: string
}

export interface RevokedAccount {
  /** The username. */
  username: string
}

export interface ApiKey {
  /** The name of the key. The audit log shows it. */
  name: string
  /** The groups of operations that the key can call. Null: all groups. */
  scopes: string[] | null
  /** The numbers of the stores that the key is limited to. Null: all stores. */
  stores: string[] | null
  /** When the key was created. */
  createdAt: string
  /** When the key expires. Null: never. */
  expiresAt: string | null
  /** When the key was last used, to the minute. Null: never. */
  lastUsedAt: string | null
}

export interface IssuedApiKey extends ApiKey {
  /** The key, with 256 random bits, to send as the password. It is shown only once. */
  key: string
  /** The value to send after `Authorization: Basic`: the base64 of `username:key`. */
  apiKey: string
}

export interface RevokedApiKey {
  /** The name of the key. The audit log shows it. */
  name: string
}
