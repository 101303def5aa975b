import { type Static, Type } from '../../schemas/schemas.ts'
import { Flag, Id, Nullable, SourceTimestamp, Text } from '../values/fields.ts'

const id = Id("The back office's ID of the staff member.", '77')
const code = Id('The code with which the staff member signs in to the till.', 'JSMITH')
const firstname = Text('First name.', 'John', 50)
const surname = Text('Surname.', 'Smith', 50)
const email = Text('The email address.', 'john.smith@example.com')
const storeNumber = Id('The store of the staff member.', '123')
const active = Flag('False if the staff member has left.')

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
  updateTimeStamp: Type.Optional(SourceTimestamp()),
})
