// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Erasure, PersonalData } from '../shapes/privacy.ts'

/** Data export and erasure for a customer. */
export interface PrivacyApi {
  /** Export a customer's data. As one document, to be handed to the person. Of a customer who has left the list it is what is kept of them still; of one who was erased there is none. */
  export(id: string, options?: CallOptions): Promise<PersonalData>
  /** Erase a customer. The customer leaves at once, and cannot be brought back: contact, address, references, consent, reward account, what is stored of earlier answers. Orders, returns, sales and vouchers keep their sums, and lose whoever they name, within moments: `status` of a repeat says when. A gift voucher that waits to be sent is not sent any more, and an order that waits to be shipped has no address any more. With a back office that cannot erase: 409. */
  erase(id: string, options?: WriteOptions): Promise<Erasure>
}

export const privacy = (call: Calls): PrivacyApi => ({
  export: (id, options) => call.get(`/customers/${segment(id)}/export`, {}, options),
  erase: (id, options) => call.delete(`/customers/${segment(id)}`, undefined, options),
})
