// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface AccountInput {
  /** The name of the account: 1 to 100 characters, with at least one letter or digit and no colon. It belongs to the whole installation. */
  username: string
  /** What it may do in this service. Each role may do what the ones before it may. */
  role: 'visitor' | 'maintainer' | 'admin'
}

export interface RoleChange {
  /** What it may do in this service. Each role may do what the ones before it may. */
  role: 'visitor' | 'maintainer' | 'admin'
}

export interface ListedAccount {
  /** The name of the account: 1 to 100 characters, with at least one letter or digit and no colon. It belongs to the whole installation. */
  username: string
  /** What it may do in this service. Each role may do what the ones before it may. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** How many passwords are live: after a rotation two. */
  passwords: number
  /** Since when it has this role. */
  since: string
  /** When it last asked something of this service, to the minute; null: never. */
  lastUsedAt: string | null
}

export interface Account {
  /** The name of the account: 1 to 100 characters, with at least one letter or digit and no colon. It belongs to the whole installation. */
  username: string
  /** What it may do in this service. Each role may do what the ones before it may. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** How many passwords are live: after a rotation two. */
  passwords: number
  /** Since when it has this role. */
  since: string
}

export interface IssuedAccount {
  /** The name of the account: 1 to 100 characters, with at least one letter or digit and no colon. It belongs to the whole installation. */
  username: string
  /** What it may do in this service. Each role may do what the ones before it may. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** How many passwords are live: after a rotation two. */
  passwords: number
  /** Since when it has this role. */
  since: string
  /** The new password: 256 random bits, shown this once. */
  password: string
  /** What to send after `Authorization: Basic`: the base64 of username and password. */
  apiKey: string
}

export interface RevokedAccount {
  /** The name of the account: 1 to 100 characters, with at least one letter or digit and no colon. It belongs to the whole installation. */
  username: string
}
