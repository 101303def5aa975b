// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface AccountInput {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: 'visitor' | 'maintainer' | 'admin'
}

export interface RoleChange {
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: 'visitor' | 'maintainer' | 'admin'
}

export interface ListedAccount {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** The number of active passwords. After a rotation, there are two. */
  passwords: number
  /** Since when the account has this role. */
  since: string
  /** When the account last used this service, to the minute. Null if never. */
  lastUsedAt: string | null
}

export interface Account {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** The number of active passwords. After a rotation, there are two. */
  passwords: number
  /** Since when the account has this role. */
  since: string
}

export interface IssuedAccount {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
  /** The role of the account in this service. Each role includes the permissions of the previous roles. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  /** The number of active passwords. After a rotation, there are two. */
  passwords: number
  /** Since when the account has this role. */
  since: string
  /** The new password, with 256 random bits. It is shown only once. */
  password: string
  /** The value to send after `Authorization: Basic`: the base64 of `username:password`. */
  apiKey: string
}

export interface RevokedAccount {
  /** The username: 1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with `tillbridge`. It is unique in the installation, also among names that look alike. */
  username: string
}
