// Made of the operations of the API by `npm run docs`.

export interface StaffMember {
  /** The back office's identifier of the staff member. */
  id: string
  /** The code the staff member signs in to the till with. */
  code: string
  /** First name. */
  firstname: string | null
  /** Surname. */
  surname: string
  /** E-mail address. */
  email: string | null
  /** The store the staff member belongs to. */
  storeNumber: string | null
  /** False once the staff member has left. */
  active: boolean
}
