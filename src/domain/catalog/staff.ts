import { type Static, Type } from '../../schemas/schemas.ts'
import { Flag, Id, Nullable, Text, ToldTime } from '../values/fields.ts'

const id = Id("The back office's identifier of the staff member.", '77')
const code = Id('The code the staff member signs in to the till with.', 'JSMITH')
const firstname = Text('First name.', 'John', 50)
const surname = Text('Surname.', 'Smith', 50)
const email = Text('E-mail address.', 'john.smith@example.com')
const storeNumber = Id('The store the staff member belongs to.', '123')
const active = Flag('False once the staff member has left.')

/** Contract 2. */
export type StaffMember = Static<typeof StaffMember>
export const StaffMember = Type.Object(
  {
    id,
    code,
    firstname: Nullable(firstname),
    surname,
    email: Nullable(email),
    storeNumber: Nullable(storeNumber),
    active,
  },
  { $id: 'StaffMember', additionalProperties: false },
)

export const StaffRow = Type.Object({
  id,
  code,
  firstname: Type.Optional(firstname),
  surname,
  email: Type.Optional(email),
  storeNumber: Type.Optional(storeNumber),
  active: Type.Optional(active),
  updateTimeStamp: Type.Optional(ToldTime()),
})
