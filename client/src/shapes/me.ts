// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface Me {
  /** The username of the account. */
  username: string
  /** The role of the account in the service. Each role includes the permissions of the previous roles. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
  limits: AccountLimits
  /** The services that the account can access, by name. */
  services: AssignedService[]
  key: KeyInUse | null
}

export interface AccountLimits {
  /** The reads per minute that each process admits. Null if the limit is off. */
  readsPerMinute: number | null
  /** The writes per minute that each process admits. Null if the limit is off. */
  writesPerMinute: number | null
}

export interface AssignedService {
  /** The name of the service, for `X-Service-Name`. */
  name: string
  /** The role of the account in the service. Each role includes the permissions of the previous roles. */
  role: Open<'visitor' | 'maintainer' | 'admin'>
}

/** The API key of the request. Null: a password. */
export interface KeyInUse {
  /** The name of the key. */
  name: string
  /** Its scopes. Null: all. */
  scopes: string[] | null
  /** Its stores. Null: all. */
  stores: string[] | null
}

export interface DeprecatedOperation {
  /** The method and path of the operation. */
  operation: string
  /** The replacement, in Markdown. */
  replacement: string
  /** The day on which the operation was deprecated, in UTC. */
  deprecatedOn: string
  /** The day on which the operation can be removed, in UTC. Null if it is not decided. */
  sunsetOn: string | null
  /** The number of requests. */
  requests: number
  /** When the account last used the operation. */
  lastUsedAt: string
}
