// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { Account, AccountInput, IssuedAccount, ListedAccount, RevokedAccount, RoleChange } from '../shapes/accounts.ts'

/** Who may use this service, and as what. */
export interface AccountsApi {
  /** The accounts that may use this service, by their names. With the role that each has in this service, and when it was last used; passwords are never shown. */
  list(query?: Paging, options?: CallOptions): Walk<ListedAccount>
  /** One account. As far as it may use this service. */
  get(username: string, options?: CallOptions): Promise<Account>
  /** A new account for this service. Its password is in this answer and nowhere else, ready to be sent as `apiKey`. Usernames belong to the whole installation: one that is taken is 409, whoever has it. In the answer to a trial null, unless the body says it: `password`, `apiKey`. */
  create(body: AccountInput, options?: WriteOptions): Promise<IssuedAccount>
  /** Gives an account another role in this service. In force everywhere within 5 seconds. The last admin stays one. */
  update(username: string, body: RoleChange, options?: WriteOptions): Promise<Account>
  /** A further password for an account. The one before stays alive until the next rotation. An account that may do more than you in some other service is rotated by whoever runs the installation: its password opens that service too. In the answer to a trial null, unless the body says it: `password`, `apiKey`. */
  rotatePassword(username: string, options?: WriteOptions): Promise<IssuedAccount>
  /** Ends what an account may do in this service. In force everywhere within 5 seconds. Other services of the account stay; where there are none, the account and its passwords end. The last admin stays. */
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
