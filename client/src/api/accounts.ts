// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Account, AccountInput, ApiKey, ApiKeyInput, IssuedAccount, IssuedApiKey, ListedAccount, RevokedAccount, RevokedApiKey, RoleChange } from '../shapes/accounts.ts'

/** API accounts with access to this service. */
export interface AccountsApi {
  /** List accounts. Each account has its role in this service and the time of its last use. Passwords are never shown. */
  list(query?: Paging & {
    /** Only programs (true), or only people (false). */
    isProgram?: boolean | undefined
  }, options?: CallOptions): Paginator<ListedAccount>
  /** Get an account. The account with its role in this service. */
  get(username: string, options?: CallOptions): Promise<Account>
  /** Create an account. The password is only in this response. Send `apiKey` after `Authorization: Basic`. Usernames are unique in the installation, so a username that another service uses is 409 too. Null in a dry run unless sent: `password`, `apiKey`. */
  create(body: AccountInput, options?: WriteOptions): Promise<IssuedAccount>
  /** Change an account's role. Takes effect in all processes within 5 seconds. The last admin can't get a lower role. */
  update(username: string, body: RoleChange, options?: WriteOptions): Promise<Account>
  /** Rotate a password. The previous password works until the next rotation. You need at least the account's role in each of its services, because its password opens all of them. Otherwise the operator must rotate it. Null in a dry run unless sent: `password`, `apiKey`. */
  rotatePassword(username: string, options?: WriteOptions): Promise<IssuedAccount>
  /** Revoke an account. Takes effect in all processes within 5 seconds. The account keeps its other services. If it has none, the account and its passwords are deleted. The last admin can't be revoked. */
  revoke(username: string, options?: WriteOptions): Promise<RevokedAccount>
  /** List an account's API keys. The keys of the account in this service, by name, also expired ones. */
  keys(username: string, options?: CallOptions): Promise<ApiKey[]>
  /** Get an API key. The key without its secret. */
  key(username: string, name: string, options?: CallOptions): Promise<ApiKey>
  /** Create an API key. A key works for this service only, at most with the account's role, and can't change accounts. It is only in this response. Send `apiKey` after `Authorization: Basic`. Null in a dry run unless sent: `key`, `apiKey`. */
  createKey(username: string, body: ApiKeyInput, options?: WriteOptions): Promise<IssuedApiKey>
  /** Revoke an API key. Takes effect in all processes within 5 seconds. */
  revokeKey(username: string, name: string, options?: WriteOptions): Promise<RevokedApiKey>
}

export const accounts = (call: Calls): AccountsApi => ({
  list: (query, options) => call.list('/accounts', query, options),
  get: (username, options) => call.get(`/accounts/${segment(username)}`, {}, options),
  create: (body, options) => call.post('/accounts', body, options),
  update: (username, body, options) => call.put(`/accounts/${segment(username)}`, body, options),
  rotatePassword: (username, options) => call.post(`/accounts/${segment(username)}/rotate`, undefined, options),
  revoke: (username, options) => call.post(`/accounts/${segment(username)}/revoke`, undefined, options),
  keys: (username, options) => call.get(`/accounts/${segment(username)}/keys`, {}, options),
  key: (username, name, options) => call.get(`/accounts/${segment(username)}/keys/${segment(name)}`, {}, options),
  createKey: (username, body, options) => call.post(`/accounts/${segment(username)}/keys`, body, options),
  revokeKey: (username, name, options) => call.delete(`/accounts/${segment(username)}/keys/${segment(name)}`, undefined, options),
})
