// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Account, AccountInput, IssuedAccount, ListedAccount, RevokedAccount, RoleChange } from '../shapes/accounts.ts'

/** API accounts with access to this service. */
export interface AccountsApi {
  /** List accounts. Each account has its role in this service and the time of its last use. Passwords are never shown. */
  list(query?: Paging, options?: CallOptions): Paginator<ListedAccount>
  /** Get an account. The account with its role in this service. */
  get(username: string, options?: CallOptions): Promise<Account>
  /** Create an account. The password is only in this response. Send `apiKey` after `Authorization: Basic`. Usernames are unique in the installation, so a username that another service uses is 409 too. In a dry run, these fields are null unless the body contains them: `password`, `apiKey`. */
  create(body: AccountInput, options?: WriteOptions): Promise<IssuedAccount>
  /** Change an account's role. Takes effect in all processes within 5 seconds. The last admin can't get a lower role. */
  update(username: string, body: RoleChange, options?: WriteOptions): Promise<Account>
  /** Rotate a password. The previous password works until the next rotation. You need at least the account's role in each of its services, because its password opens all of them. Otherwise the operator must rotate it. In a dry run, these fields are null unless the body contains them: `password`, `apiKey`. */
  rotatePassword(username: string, options?: WriteOptions): Promise<IssuedAccount>
  /** Revoke an account. Takes effect in all processes within 5 seconds. The account keeps its other services. If it has none, the account and its passwords are deleted. The last admin can't be revoked. */
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
