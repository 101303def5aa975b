// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { DeprecatedOperation, Me } from '../shapes/me.ts'

/** API accounts with access to this service. */
export interface MeApi {
  /** Get your account. The account of the request: its role and limits in this service, and all services it can access. */
  get(options?: CallOptions): Promise<Me>
  /** List deprecated operations that you use. The deprecated operations that this account has used in this service, with the number of requests. A request appears after 2 seconds. */
  deprecations(options?: CallOptions): Promise<DeprecatedOperation[]>
}

export const me = (call: Calls): MeApi => ({
  get: (options) => call.get('/me', {}, options),
  deprecations: (options) => call.get('/me/deprecations', {}, options),
})
