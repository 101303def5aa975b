// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Erasure, PersonalData } from '../shapes/privacy.ts'

/** Data export and erasure for a customer. */
export interface PrivacyApi {
  /** Export a customer's data. One document with all stored data of the person. For a removed customer, it contains the data that is still stored. An erased customer returns 404. */
  export(id: string, options?: CallOptions): Promise<PersonalData>
  /** Erase a customer. Can't be undone. Deletes contact, address, references, consent, reward account and stored responses at once. Orders, returns, sales and vouchers keep their amounts and lose the names shortly after: repeat the request to see `status`. Voucher emails that are still queued aren't sent, and orders that aren't shipped yet lose their address. If the back office can't erase customers: 409 `capability_unavailable`. */
  erase(id: string, options?: WriteOptions): Promise<Erasure>
}

export const privacy = (call: Calls): PrivacyApi => ({
  export: (id, options) => call.get(`/customers/${segment(id)}/export`, {}, options),
  erase: (id, options) => call.delete(`/customers/${segment(id)}`, undefined, options),
})
