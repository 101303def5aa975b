// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { StaffMember } from '../shapes/staff.ts'

/** Store staff. */
export interface StaffApi {
  /** List staff. All of them, or who has an e-mail address or a code. */
  list(query?: Paging & {
    /** Exactly this e-mail address, whatever its case. */
    email?: string | undefined
    /** Exactly this code. */
    code?: string | undefined
  }, options?: CallOptions): Paginator<StaffMember>
  /** Get a staff member. Whoever has left is not active any more, and still found. */
  get(id: string, options?: CallOptions): Promise<StaffMember>
}

export const staff = (call: Calls): StaffApi => ({
  list: (query, options) => call.list('/staff', query, options),
  get: (id, options) => call.get(`/staff/${segment(id)}`, {}, options),
})
