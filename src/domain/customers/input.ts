import { type ApiError, type FieldError, toApiError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { Address } from '../values/address.ts'
import { notBlank } from '../values/characters.ts'
import { Flag, Id, LocalDate, Optional, Text } from '../values/fields.ts'
import { omitUnchanged } from '../values/unchanged-fields.ts'
import { Customer } from './customers.ts'

const Name = (description: string, example: string) =>
  Type.String({ description, minLength: 1, maxLength: 50, pattern: notBlank, examples: [example] })

const Phone = (what: string) =>
  Optional(
    Type.String({
      description: `${what}: 3 to 20 digits, with spaces, \`+\`, \`-\`, \`(\`, \`)\`, \`.\` and \`/\` between them.`,
      maxLength: 50,
      pattern: '^(?=(?:[^0-9]*[0-9]){3,20}[^0-9]*$)[0-9 +().\\/-]+$',
      examples: ['+61 400 123 456'],
    }),
  )

const referenceValueId = Id('The identifier of a value that the reference cache knows.', '4411')

/** A reference as a request gives it: the value's identifier alone, or the object that answers have. */
const ChosenReference = Type.Union(
  [
    referenceValueId,
    Type.Object(
      {
        referenceValueId,
        code: Optional(Text('Its code.', 'CBD', 50)),
        name: Optional(Text('What it says.', 'Collins Street')),
      },
      {
        $id: 'ChosenReference',
        additionalProperties: false,
        description: 'As answers have it; `code` and `name` have to be those of the value.',
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
  description: 'E-mail address; unique in the service, whatever its case.',
  maxLength: 250,
  format: 'email',
  examples: ['john.smith@example.com'],
})
const phones = Optional(
  Type.Object(
    {
      home: Phone('Home telephone number'),
      mobile: Phone('Mobile telephone number'),
      work: Phone('Work telephone number'),
    },
    { $id: 'PhonesInput', additionalProperties: false },
  ),
)

const EcommerceId = (form: string, example: string) =>
  Optional(Text(`The customer's identifier in the e-commerce platform, ${form}.`, example))

/** What this service keeps of a customer whatever the back office: it is never told of it. */
export const ecommerceIds = {
  ecommerceAdminId: EcommerceId('admin form', 'gid://shop/Customer/6477890125896'),
  ecommerceLegacyId: EcommerceId('legacy form', '6477890125896'),
}

const optional = {
  title: Type.Optional(Customer.properties.title),
  mobile: Phone('Mobile telephone number, short for `contact.phones.mobile`'),
  dateOfBirth: Optional(LocalDate('Date of birth, from 1900-01-01 to today.', '1980-02-29')),
  privacy: Optional(
    Flag(
      'The inverse of the accept-marketing status: true when the customer wants no marketing, which ends both subscriptions. A subscription that the same body sets is consent to marketing, and makes it false.',
      false,
    ),
  ),
  emailSubscription: Optional(Flag('Whether the customer takes e-mails.')),
  smsSubscription: Optional(Flag('Whether the customer takes text messages.', false)),
  address: Optional(Type.Partial(Address, { $id: 'AddressInput', additionalProperties: false })),
  references: Optional(
    Type.Record(Type.String(), ChosenReference, {
      description:
        'References by the name of their type: the identifier of the value, or an object as answers have it. Those that stand for a subscription follow its flag.',
      examples: [{ favouriteStore: '4411' }],
    }),
  ),
  ...ecommerceIds,
}

/** A new customer (contract 4). Null says as much as leaving out. */
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

const ReadOnly = <T extends TSchema>(shape: T) => Type.Optional<T>({ ...shape, readOnly: true })

const { id, code, startDate, loyaltyCode, loyaltyName, joinedStoreId, joinedStoreCode } = Customer.properties
/** What no write changes of a customer; it may come back as it was read. */
const kept = {
  id: ReadOnly(id),
  code: ReadOnly(code),
  startDate: ReadOnly(startDate),
  loyaltyCode: ReadOnly(loyaltyCode),
  loyaltyName: ReadOnly(loyaltyName),
  joinedStoreId: ReadOnly(joinedStoreId),
  joinedStoreCode: ReadOnly(joinedStoreCode),
}

/** A change of a customer: what is not mentioned stays, null clears (contract 4). */
export type CustomerChange = Static<typeof CustomerChange>
export const CustomerChange = Type.Object(
  {
    firstname: Optional(firstname),
    surname: Optional(surname),
    contact: Type.Optional(Type.Object({ email: Optional(email), phones }, { additionalProperties: false })),
    ...optional,
    ...kept,
  },
  { $id: 'CustomerChange', additionalProperties: false },
)

/** A new customer has nothing to clear. */
export const withoutNulls = (input: CustomerInput): CustomerInput =>
  JSON.parse(JSON.stringify(input), (_, value) => value ?? undefined)

/** The e-commerce identifiers that a change sets. */
export const ecommerceIdsOf = ({ ecommerceAdminId, ecommerceLegacyId }: CustomerChange) => ({
  ecommerceAdminId,
  ecommerceLegacyId,
})

/** Whether a change sets nothing that a back office knows; what no write changes may come back beside it. */
export const isOursAlone = (change: CustomerChange) =>
  Object.keys(change).every(name => Object.hasOwn(ecommerceIds, name) || Object.hasOwn(kept, name))

/** The telephone numbers that a change sets. */
export function phonesOf({ mobile, contact }: CustomerChange) {
  const phones = contact?.phones === null ? { home: null, mobile: null, work: null } : { ...contact?.phones }
  return mobile === undefined ? phones : { ...phones, mobile }
}

/** Every fault of a customer, as stored so far, that its shape cannot tell. `today` is the day in the service's time zone. */
export const faultsOfCustomer = (change: CustomerChange, record: Customer | undefined, today: string): FieldError[] => [
  ...mobileTwice(change),
  ...omitUnchanged(bornOutOfRange(change, today), change, record),
]

function mobileTwice({ mobile, contact }: CustomerChange): FieldError[] {
  const other = phonesOf({ contact: contact ?? {} }).mobile
  if (mobile === undefined || other === undefined || mobile === other) return []
  const detail =
    '`mobile` and `contact.phones.mobile` are the same field, so they must have the same value. Send only one of them.'
  const place = contact?.phones ? '/contact/phones/mobile' : '/contact/phones'
  return ['/mobile', place].map(pointer => ({ pointer, code: 'invalid_field', detail }))
}

/** `owner`: the customer who has the address, where that is known. */
export function emailTaken(owner: string | undefined): ApiError {
  const detail = `${owner === undefined ? 'Another customer' : `Customer ${owner}`} has this email address.`
  return toApiError([{ pointer: '/contact/email', code: 'email_taken', detail }])
}

const keptNames = Object.keys(kept) as (keyof typeof kept)[]

/** What of a change is another than the record has, and cannot be: what no write changes, and what no write clears. */
export function faultsOfKept(change: CustomerChange, record: Customer): FieldError[] {
  const changed = keptNames
    .filter(name => change[name] !== undefined && change[name] !== (record[name] ?? null))
    .map((name): FieldError => {
      const detail = `\`${name}\` is read-only. Leave it out, or send it unchanged.`
      return { pointer: `/${name}`, code: 'invalid_body', detail }
    })
  const { firstname, surname, contact } = change
  const cleared = [
    ['/firstname', firstname, record.firstname],
    ['/surname', surname, record.surname],
    ['/contact/email', contact?.email, record.contact.email],
  ] as const
  const detail = "This field is required and can't be cleared."
  return [
    ...changed,
    ...cleared
      .filter(([, now, before]) => now === null && before !== null)
      .map(([pointer]): FieldError => ({ pointer, code: 'invalid_field', detail })),
  ]
}

const earliestBirth = '1900-01-01'

function bornOutOfRange({ dateOfBirth }: CustomerChange, today: string): FieldError[] {
  if (!dateOfBirth || (dateOfBirth >= earliestBirth && dateOfBirth <= today)) return []
  const detail = `\`dateOfBirth\` must be from ${earliestBirth} to today.`
  return [{ pointer: '/dateOfBirth', code: 'invalid_field', detail }]
}
