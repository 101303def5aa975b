import { type Static, Type } from '../../schemas/schemas.ts'
import { References, referencePairs } from '../catalog/references.ts'
import { Address, addressColumns } from '../values/address.ts'
import { Flag, Id, LocalDate, LocalTime, Nullable, SourceTimestamp, Text } from '../values/fields.ts'

const id = Id("The back office's ID of the customer.", '65432')
const code = Text('The code of the customer in the back office.', 'SMITJOHN22', 50)
const title = Text('Title.', 'Mr', 50)
const firstname = Text('First name.', 'John', 50)
const surname = Text('Surname.', 'Smith', 50)
const dateOfBirth = LocalDate('Date of birth.', '1980-02-29')
const startDate = LocalTime('When the customer joined.', '2021-03-25 00:00:00')
const email = Text('The email address. Unique in the service, ignoring case.', 'john.smith@example.com')
const phone = (label: string) => Text(`${label} telephone number.`, '+61 400 123 456', 50)
const privacy = Flag('The inverse of consent to marketing: true if the customer wants no marketing.', false)
const emailSubscription = Flag('True if the customer has subscribed to emails.')
const smsSubscription = Flag('True if the customer has subscribed to text messages.', false)
const loyaltyCode = Text("The code of the customer's loyalty program.", '99', 50)
const loyaltyName = Text("The name of the customer's loyalty program.", 'Gold', 100)
const joinedStoreId = Id('The ID of the store in which the customer signed up.', '4983')
const ecommerceAdminId = Text(
  "The customer's ID in the e-commerce platform, admin form. Absent in `GET /customers?updated_after=`.",
  'gid://shop/Customer/6477890125896',
)
const ecommerceLegacyId = Text(
  "The customer's ID in the e-commerce platform, legacy form. Absent in `GET /customers?updated_after=`.",
  '6477890125896',
)

/** A customer with contact, consent and loyalty. */
export type Customer = Static<typeof Customer>
export const Customer = Type.Object(
  {
    id,
    code: Nullable(code),
    title: Nullable(title),
    firstname: Nullable(firstname),
    surname: Nullable(surname),
    dateOfBirth: Nullable(dateOfBirth),
    startDate: Nullable(startDate),
    privacy,
    emailSubscription,
    smsSubscription,
    contact: Type.Object(
      {
        email: Nullable(email),
        phones: Type.Object(
          { home: Nullable(phone('Home')), mobile: Nullable(phone('Mobile')), work: Nullable(phone('Work')) },
          { $id: 'CustomerPhones', additionalProperties: false },
        ),
      },
      { $id: 'CustomerContact', additionalProperties: false },
    ),
    address: Address,
    references: References,
    loyaltyCode: Nullable(loyaltyCode),
    loyaltyName: Nullable(loyaltyName),
    joinedStoreId: Nullable(joinedStoreId),
    joinedStoreCode: Nullable(Text('The code of the store in which the customer signed up.', 'DONC', 50)),
    updateTimeStamp: LocalTime('When the record last changed.', '2023-03-06 10:50:16'),
    ecommerceAdminId: Type.Optional(Nullable(ecommerceAdminId)),
    ecommerceLegacyId: Type.Optional(Nullable(ecommerceLegacyId)),
  },
  { $id: 'Customer', additionalProperties: false },
)

export const CustomerRow = Type.Object({
  id,
  code: Type.Optional(code),
  title: Type.Optional(title),
  firstname: Type.Optional(firstname),
  surname: Type.Optional(surname),
  dateOfBirth: Type.Optional({ ...dateOfBirth, format: 'birthday' }),
  startDate: Type.Optional(startDate),
  email: Type.Optional({ ...email, format: 'email' }),
  phoneHome: Type.Optional(phone('Home')),
  phoneMobile: Type.Optional(phone('Mobile')),
  phoneWork: Type.Optional(phone('Work')),
  ...addressColumns,
  privacy: Type.Optional(privacy),
  emailSubscription: Type.Optional(emailSubscription),
  smsSubscription: Type.Optional(smsSubscription),
  references: Type.Optional(referencePairs),
  loyaltyCode: Type.Optional(loyaltyCode),
  loyaltyName: Type.Optional(loyaltyName),
  joinedStoreId: Type.Optional(joinedStoreId),
  ecommerceAdminId: Type.Optional(ecommerceAdminId),
  ecommerceLegacyId: Type.Optional(ecommerceLegacyId),
  updateTimeStamp: Type.Optional(SourceTimestamp()),
})

export const CustomerMappingRow = Type.Object({
  customerId: id,
  ecommerceAdminId: Type.Optional(ecommerceAdminId),
  ecommerceLegacyId: Type.Optional(ecommerceLegacyId),
})
