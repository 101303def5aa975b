import { type Static, Type } from '../../schemas/schemas.ts'

const rate = (description: string, example: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal('off')], {
    description,
    default: example,
    examples: [example],
  })

const flag = (description: string, value = false) => Type.Boolean({ description, default: value, examples: [true] })

const optional = (description: string, example: string, format?: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 250, ...(format && { format }) }), Type.Null()], {
    description,
    default: null,
    examples: [example],
  })

const mapping = (description: string) =>
  Type.Object(
    {
      type: Type.String({
        description: 'The type of the reference.',
        minLength: 1,
        maxLength: 50,
        examples: ['newsletter'],
      }),
      yes: Type.String({ description: 'The value for yes.', minLength: 1, maxLength: 100, examples: ['4411'] }),
      no: Type.String({ description: 'The value for no.', minLength: 1, maxLength: 100, examples: ['4412'] }),
    },
    { description, additionalProperties: false },
  )

/** What a service can be set to. `tillbridge service set` and `/settings` speak these names. */
export type Settings = Static<typeof Settings>
export const Settings = Type.Object(
  {
    retailerName: Type.String({
      description: 'The name shoppers know the retailer by.',
      minLength: 1,
      maxLength: 100,
      default: 'Tillbridge',
      examples: ['Luma'],
    }),
    timeZone: Type.String({
      description: 'The time zone of all wall-clock times, as the IANA names it.',
      format: 'time-zone',
      default: 'UTC',
      examples: ['Australia/Melbourne'],
    }),
    currency: Type.String({
      description: 'The currency of all amounts (ISO 4217).',
      format: 'currency',
      default: 'USD',
      examples: ['AUD'],
    }),
    inventoryBuffer: Type.Integer({
      description:
        'Units of each SKU held back from sale where neither the SKU at the store nor the store says otherwise.',
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      examples: [1],
    }),
    shipOrders: Type.Enum(['immediately', 'manually'], {
      description:
        'Whether the embedded back office ships an order in the moment it is placed, or when `tillbridge order ship` says so.',
      default: 'immediately',
      examples: ['manually'],
    }),
    returnReasons: Type.Array(
      Type.Object(
        {
          code: Type.String({ description: 'What a return names.', minLength: 1, maxLength: 20, examples: ['SIZE'] }),
          name: Type.String({
            description: 'What a shopper reads.',
            minLength: 1,
            maxLength: 100,
            examples: ['Wrong size'],
          }),
        },
        { additionalProperties: false },
      ),
      {
        description: 'Why something may be returned (`GET /return-reasons`).',
        maxItems: 100,
        default: [
          { code: 'SIZE', name: 'Wrong size' },
          { code: 'FAULTY', name: 'Faulty' },
          { code: 'WRONG', name: 'Not what was ordered' },
          { code: 'MIND', name: 'Changed my mind' },
        ],
        examples: [[{ code: 'SIZE', name: 'Wrong size' }]],
      },
    ),
    defaultReturnReason: optional('The reason of a returned line that names none: a code of `returnReasons`.', 'MIND'),
    vouchersEnabled: flag('Whether gift vouchers can be made: the gift voucher function.'),
    giftCardSku: optional('The SKU that gift vouchers are sold as: the gift card SKU index.', 'GIFTCARD'),
    voucherType: optional('The type of voucher that is made.', 'DIGITAL'),
    voucherValidityMonths: Type.Integer({
      description: 'How many months a new voucher can be used.',
      minimum: 1,
      maximum: 600,
      default: 36,
      examples: [24],
    }),
    voucherGateway: optional(
      'The payment gateway of a gift voucher that names none: one of `gateways`. Without it none is recorded.',
      'paypal',
    ),
    voucherInFull: flag('Whether a voucher can only be used in full.'),
    mailSender: optional('The address that e-mails to shoppers come from.', 'gifts@luma.example', 'email'),
    alertEmail: optional(
      'The address that is told of what somebody has to look at: an endpoint of a webhook that takes nothing.',
      'operations@luma.example',
      'email',
    ),
    subscriptionMapping: Type.Object(
      { email: Type.Optional(mapping('E-mails.')), sms: Type.Optional(mapping('Text messages.')) },
      {
        description:
          'Which customer reference stands for a subscription, and with which values: type, value for yes, value for no. Without one the flag is kept by the service alone.',
        additionalProperties: false,
        default: {},
        examples: [{ email: { type: 'newsletter', yes: '4411', no: '4412' } }],
      },
    ),
    referenceTypes: Type.Array(
      Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-z][A-Za-z0-9]*$', examples: ['favouriteStore'] }),
      {
        description:
          'The types of reference that a customer may be given. None named: any type that the reference cache knows.',
        maxItems: 200,
        uniqueItems: true,
        default: [],
        examples: [['favouriteStore', 'newsletter']],
      },
    ),
    release: Type.String({
      description:
        'The release the embedded back office answers as: what needs a later one is unavailable (contract 4).',
      format: 'release',
      default: '2025.1',
      examples: ['2022.1'],
    }),
    requireIfMatch: flag('Whether every PUT of a record has to name the state it changes in `If-Match`.'),
    requireIdempotencyKey: flag('Whether every write that takes an `Idempotency-Key` has to have one.'),
    removalsKeptDays: Type.Integer({
      description:
        'How many days it is remembered what has left the data. Who follows changes, and was away for longer, begins anew.',
      minimum: 1,
      maximum: 3_650,
      default: 90,
      examples: [30],
    }),
    requestsKeptDays: Type.Integer({
      description: 'How many days requests are kept in the log of requests (`GET /requests`); 0: none is.',
      minimum: 0,
      maximum: 90,
      default: 7,
      examples: [14],
    }),
    readsPerMinute: rate('Reads an account may make in a minute, or `off`.', 6_000),
    writesPerMinute: rate('Writes an account may make in a minute, or `off`.', 1_200),
  },
  { additionalProperties: false },
)

/** What holds where a service says nothing. */
export const defaultSettings = Object.fromEntries(
  Object.entries(Settings.properties).map(([name, shape]) => [
    name,
    (shape as unknown as { default: unknown }).default,
  ]),
) as Settings

/** A retailer's tenancy. */
export interface Service {
  id: number
  name: string
  settings: Settings
  /** When it was restored from a backup, if it ever was: text of a `timestamptz`. */
  restoredAt?: string
  /** The data database that it is in, where it is not in that of the accounts. */
  database?: string
}
