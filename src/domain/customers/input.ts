import { type ApiError, type FieldError, toApiError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { Address } from '../values/address.ts'
import { notBlank } from '../values/characters.ts'
import { Flag, Id, LocalDate, Optional, Phone, Text } from '../values/fields.ts'
import { omitUnchanged } from '../values/unchanged-fields.ts'
import { Customer } from './customers.ts'

const Name = (description: string, example: string) =>
  Type.String({ description, minLength: 1, maxLength: 50, pattern: notBlank, examples: [example] })

const referenceValueId = Id('The ID of a value in the reference cache.', '4411')

/** A reference in a request: the ID of the value, or the object from a response. */
const ChosenReference = Type.Union(
  [
    referenceValueId,
    Type.Object(
      {
        referenceValueId,
        code: Optional(Text('The code of the value.', 'CBD', 50)),
        name: Optional(Text('The name of the value.', 'Collins Street')),
      },
      {
        $id: 'ChosenReference',
        additionalProperties: false,
        description: 'A reference from a response. `code` and `name` must be those of the value.',
      },
    ),
    Type.Null(),
  ],
  { examples: ['4411'] },
)
export type ChosenReference = Static<typeof ChosenReference>

const firstname = Name('First name.', 'John')
const surname = Name('Surname.', 'Smith')
const email = Type.String({
  description: 'The email address. Unique in the service, ignoring case.',
  maxLength: 250,
  format: 'email',
  examples: ['john.smith@example.com'],
})
const phones = Optional(
  Type.Object(
    {
      home: Optional(Phone('Home telephone number')),
      mobile: Optional(Phone('Mobile telephone number')),
      work: Optional(Phone('Work telephone number')),
    },
    { $id: 'PhonesInput', additionalProperties: false },
  ),
)

const EcommerceId = (form: string, example: string) =>
  Optional(Text(`The customer's ID in the e-commerce platform, ${form}.`, example))

/** The fields of a customer that only Tillbridge stores. They are never sent to the back office. */
export const ecommerceIds = {
  ecommerceAdminId: EcommerceId('admin form', 'gid://shop/Customer/6477890125896'),
  ecommerceLegacyId: EcommerceId('legacy form', '6477890125896'),
}

const optional = {
  title: Type.Optional(Customer.properties.title),
  mobile: Optional({ ...Phone(''), description: 'The same field as `contact.phones.mobile`.' }),
  dateOfBirth: Optional(LocalDate('Date of birth, from 1900-01-01 to today.', '1980-02-29')),
  privacy: Optional(
    Flag(
      'The inverse of consent to marketing. True ends both subscriptions. If the same body sets a subscription, `privacy` becomes false.',
      false,
    ),
  ),
  emailSubscription: Optional(Flag('True if the customer has subscribed to emails.')),
  smsSubscription: Optional(Flag('True if the customer has subscribed to text messages.', false)),
  address: Optional(Type.Partial(Address, { $id: 'AddressInput', additionalProperties: false })),
  references: Optional(
    Type.Record(Type.String(), ChosenReference, {
      description:
        'References by the name of their type: the ID of the value, or an object from a response. References of a subscription must match its flag.',
      examples: [{ favouriteStore: '4411' }],
    }),
  ),
  ...ecommerceIds,
}

/** A new customer. Null means the same as leaving a field out. */
export type CustomerInput = Static<typeof CustomerInput>
export const CustomerInput = Type.Object(
  {
    firstname,
    surname,
    contact: Type.Object({ email, phones }, { additionalProperties: false }),
    ...optional,
  },
  { $id: 'CustomerInput', additionalProperties: false },
)

const ReadOnly = <T extends TSchema>(schema: T) => Type.Optional<T>({ ...schema, readOnly: true })

const { id, code, startDate, loyaltyCode, loyaltyName, joinedStoreId, joinedStoreCode } = Customer.properties
/** Fields that no write changes. They can be sent back unchanged. */
const readOnlyFields = {
  id: ReadOnly(id),
  code: ReadOnly(code),
  startDate: ReadOnly(startDate),
  loyaltyCode: ReadOnly(loyaltyCode),
  loyaltyName: ReadOnly(loyaltyName),
  joinedStoreId: ReadOnly(joinedStoreId),
  joinedStoreCode: ReadOnly(joinedStoreCode),
}

/** A change of a customer. Missing fields are kept, null clears a field. */
export type CustomerChange = Static<typeof CustomerChange>
export const CustomerChange = Type.Object(
  {
    firstname: Optional(firstname),
    surname: Optional(surname),
    contact: Type.Optional(Type.Object({ email: Optional(email), phones }, { additionalProperties: false })),
    ...optional,
    ...readOnlyFields,
  },
  { $id: 'CustomerChange', additionalProperties: false },
)

/** Removes null fields: a new customer has nothing to clear. */
export const withoutNulls = (input: CustomerInput): CustomerInput =>
  JSON.parse(JSON.stringify(input), (_, value) => value ?? undefined)

/** Returns the e-commerce identifiers that a change sets. */
export const getEcommerceIds = ({ ecommerceAdminId, ecommerceLegacyId }: CustomerChange) => ({
  ecommerceAdminId,
  ecommerceLegacyId,
})

/** True if a change sets only fields that the back office doesn't have. Unchanged read-only fields are ignored. */
export const changesOnlyEcommerceIds = (change: CustomerChange) =>
  Object.keys(change).every(name => Object.hasOwn(ecommerceIds, name) || Object.hasOwn(readOnlyFields, name))

/** Returns the telephone numbers that a change sets. */
export function getPhones({ mobile, contact }: CustomerChange) {
  const newPhones = contact?.phones === null ? { home: null, mobile: null, work: null } : { ...contact?.phones }
  return mobile === undefined ? newPhones : { ...newPhones, mobile }
}

/** Returns the errors of a customer that the schema can't express. `record` is the stored customer. `today` is in the service's time zone. */
export const checkCustomer = (change: CustomerChange, record: Customer | undefined, today: string): FieldError[] => [
  ...checkMobile(change),
  ...omitUnchanged(checkDateOfBirth(change, today), change, record),
]

function checkMobile({ mobile, contact }: CustomerChange): FieldError[] {
  const mobileInContact = getPhones({ contact: contact ?? {} }).mobile
  if (mobile === undefined || mobileInContact === undefined || mobile === mobileInContact) return []
  const detail =
    '`mobile` and `contact.phones.mobile` are the same field, so they must have the same value. Send only one of them.'
  const pointerInContact = contact?.phones ? '/contact/phones/mobile' : '/contact/phones'
  return ['/mobile', pointerInContact].map(pointer => ({ pointer, code: 'invalid_field', detail }))
}

/** Returns the error `email_taken`. `owner` is the ID of the customer with the address, if known. */
export function createEmailTaken(owner: string | undefined): ApiError {
  const detail = `${owner === undefined ? 'Another customer' : `Customer ${owner}`} has this email address.`
  return toApiError([{ pointer: '/contact/email', code: 'email_taken', detail }])
}

const readOnlyNames = Object.keys(readOnlyFields) as (keyof typeof readOnlyFields)[]

/** Returns an error for each changed read-only field and each cleared required field. */
export function checkReadOnlyFields(change: CustomerChange, record: Customer): FieldError[] {
  const changed = readOnlyNames
    .filter(name => change[name] !== undefined && change[name] !== (record[name] ?? null))
    .map((name): FieldError => {
      const detail = `\`${name}\` is read-only. Leave it out, or send it unchanged.`
      return { pointer: `/${name}`, code: 'invalid_body', detail }
    })
  const { firstname: newFirstname, surname: newSurname, contact } = change
  const cleared = [
    ['/firstname', newFirstname, record.firstname],
    ['/surname', newSurname, record.surname],
    ['/contact/email', contact?.email, record.contact.email],
  ] as const
  const detail = "This field is required and can't be cleared."
  return [
    ...changed,
    ...cleared
      .filter(([, value, stored]) => value === null && stored !== null)
      .map(([pointer]): FieldError => ({ pointer, code: 'invalid_field', detail })),
  ]
}

const earliestBirth = '1900-01-01'

function checkDateOfBirth({ dateOfBirth }: CustomerChange, today: string): FieldError[] {
  if (!dateOfBirth || (dateOfBirth >= earliestBirth && dateOfBirth <= today)) return []
  const detail = `\`dateOfBirth\` must be from ${earliestBirth} to today.`
  return [{ pointer: '/dateOfBirth', code: 'invalid_field', detail }]
}
