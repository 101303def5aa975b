// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { Me } from '../shapes/me.ts'

/** API accounts with access to this service. */
export interface MeApi {
  /** Get your account. The account of the request: its role and limits in this service, and all services it can access. */
  get(options?: CallOptions): Promise<Me>
}

export const me = (call: Calls): MeApi => ({
  get: (options) => call.get('/me', {}, options),
})
