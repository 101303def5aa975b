// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { StaffMember } from '../shapes/staff.ts'

/** Store staff. */
export interface StaffApi {
  /** List staff. All staff members, or those with an email address or code. */
  list(query?: Paging & {
    /** The exact email address, ignoring case. Write `+` as `%2B` in a URL. */
    email?: string | undefined
    /** The exact, case-sensitive staff code. */
    code?: string | undefined
  }, options?: CallOptions): Paginator<StaffMember>
  /** Get a staff member. A staff member who has left is still found, with `active: false`. */
  get(id: string, options?: CallOptions): Promise<StaffMember>
}

export const staff = (call: Calls): StaffApi => ({
  list: (query, options) => call.list('/staff', query, options),
  get: (id, options) => call.get(`/staff/${segment(id)}`, {}, options),
})
