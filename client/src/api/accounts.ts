// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Account, AccountInput, IssuedAccount, ListedAccount, RevokedAccount, RoleChange } from '../shapes/accounts.ts'

/** API accounts with access to this service. */
export interface AccountsApi {
  /** List accounts. With the role that each has in this service, and when it was last used; passwords are never shown. */
  list(query?: Paging, options?: CallOptions): Paginator<ListedAccount>
  /** Get an account. As far as it may use this service. */
  get(username: string, options?: CallOptions): Promise<Account>
  /** Create an account. Its password is in this answer and nowhere else, ready to be sent as `apiKey`. Usernames belong to the whole installation: one that is taken is 409, whoever has it. In a dry run, these fields are null unless the body contains them: `password`, `apiKey`. */
  create(body: AccountInput, options?: WriteOptions): Promise<IssuedAccount>
  /** Change an account's role. In force everywhere within 5 seconds. The last admin stays one. */
  update(username: string, body: RoleChange, options?: WriteOptions): Promise<Account>
  /** Rotate a password. The one before stays alive until the next rotation. An account that may do more than you in some other service is rotated by whoever runs the installation: its password opens that service too. In a dry run, these fields are null unless the body contains them: `password`, `apiKey`. */
  rotatePassword(username: string, options?: WriteOptions): Promise<IssuedAccount>
  /** Revoke an account. In force everywhere within 5 seconds. Other services of the account stay; where there are none, the account and its passwords end. The last admin stays. */
  revoke(username: string, options?: WriteOptions): Promise<RevokedAccount>
}

export const accounts = (call: Calls): AccountsApi => ({
  list: (query, options) => call.list('/accounts', query, options),
  get: (username, options) => call.get(`/accounts/${segment(username)}`, {}, options),
  create: (body, options) => call.post('/accounts', body, options),
  update: (username, body, options) => call.put(`/accounts/${segment(username)}`, body, options),
  rotatePassword: (username, options) => call.post(`/accounts/${segment(username)}/rotate`, undefined, options),
  revoke: (username, options) => call.post(`/accounts/${segment(username)}/revoke`, undefined, options),
})
