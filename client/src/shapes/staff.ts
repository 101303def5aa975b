// Generated from the OpenAPI document by `npm run docs`.

export interface StaffMember {
  /** The back office's ID of the staff member. */
  id: string
  /** The code with which the staff member signs in to the till. */
  code: string
  /** First name. */
  firstname: string | null
  /** Surname. */
  surname: string
  /** The email address. */
  email: string | null
  /** The store of the staff member. */
  storeNumber: string | null
  /** False if the staff member has left. */
  active: boolean
}
