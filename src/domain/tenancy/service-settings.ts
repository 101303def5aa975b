import { type Static, Type } from '../../schemas/schemas.ts'

const rate = (description: string, example: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal('off')], {
    description,
    default: example,
    examples: [example],
  })

const flag = (description: string) => Type.Boolean({ description, default: false, examples: [true] })

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

/** The settings of a service. `tillbridge service set` and `/settings` use these names. */
export type Settings = Static<typeof Settings>
export const Settings = Type.Object(
  {
    retailerName: Type.String({
      description: 'The name of the retailer that shoppers see.',
      minLength: 1,
      maxLength: 100,
      default: 'Tillbridge',
      examples: ['Luma'],
    }),
    timeZone: Type.String({
      description: 'The IANA time zone of all local times.',
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
        'The inventory buffer of the service: units of each SKU that are not sold online, unless the SKU at the store or the store has its own buffer.',
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      examples: [1],
    }),
    fulfilment: Type.Enum(['automatic', 'manual'], {
      description:
        '`automatic`: the embedded back office ships an order when it is placed. `manual`: `tillbridge order ship` does.',
      default: 'automatic',
      examples: ['manual'],
    }),
    allocated: Type.Enum(['excluded', 'included'], {
      description:
        "If stock files have units of unshipped orders taken off already (`included`). `excluded`: files don't know web orders, so the units are subtracted from `sellable` until they are shipped. With Apparel21, always `included`.",
      default: 'excluded',
      examples: ['included'],
    }),
    oversell: Type.Enum(['allow', 'refuse'], {
      description:
        '`refuse`: an order beyond the units that can be sold is rejected (`insufficient_stock`), unless the SKU has `allowBackorder`. `allow`: it is accepted, and the stock can fall below 0.',
      default: 'refuse',
      examples: ['allow'],
    }),
    returnReasons: Type.Array(
      Type.Object(
        {
          code: Type.String({
            description: 'The code that a return uses.',
            minLength: 1,
            maxLength: 20,
            examples: ['SIZE'],
          }),
          name: Type.String({
            description: 'The name that shoppers read.',
            minLength: 1,
            maxLength: 100,
            examples: ['Wrong size'],
          }),
        },
        { additionalProperties: false },
      ),
      {
        description: 'The return reasons (`GET /return-reasons`).',
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
    defaultReturnReason: optional(
      'The reason of a return line without `reasonCode`: a code of `returnReasons`.',
      'MIND',
    ),
    vouchersEnabled: flag('The gift voucher function. True if vouchers can be issued.'),
    giftCardSku: optional('The gift card SKU index: the SKU that vouchers are sold as.', 'GIFTCARD'),
    voucherType: optional('The type of new vouchers.', 'DIGITAL'),
    voucherValidityMonths: Type.Integer({
      description: 'The validity of new vouchers, in months.',
      minimum: 1,
      maximum: 600,
      default: 36,
      examples: [24],
    }),
    voucherGateway: optional(
      'The payment gateway of a voucher without `gateway`: one of `gateways`. If it is not set, no gateway is recorded.',
      'paypal',
    ),
    requireFullRedemption: flag('True if vouchers can only be redeemed in full.'),
    emailSender: optional('The sender address of emails to shoppers.', 'gifts@luma.example', 'email'),
    logoUrl: optional(
      "The retailer's logo in emails to shoppers: the HTTPS URL of an image, 40 pixels high. Without it, emails show `retailerName`.",
      'https://luma.example/logo.png',
      'https-url',
    ),
    brandColour: Type.String({
      description: "The retailer's colour in emails to shoppers.",
      format: 'colour',
      pattern: '^#[0-9A-Fa-f]{6}$',
      default: '#14524a',
      examples: ['#7a1f3d'],
    }),
    shopUrl: optional(
      'The HTTPS URL of the shop. Emails to shoppers link to it, and name it as the place to check the balance of a voucher.',
      'https://luma.example/gift-vouchers',
      'https-url',
    ),
    supportEmail: optional('The address in emails to shoppers for their questions.', 'help@luma.example', 'email'),
    alertEmail: optional('The recipient of alert emails.', 'operations@luma.example', 'email'),
    subscriptionMapping: Type.Object(
      { email: Type.Optional(mapping('Emails.')), sms: Type.Optional(mapping('Text messages.')) },
      {
        description:
          'The customer reference of each subscription: its type, and the values for yes and no. Without a mapping, Tillbridge stores the flag itself.',
        additionalProperties: false,
        default: {},
        examples: [{ email: { type: 'newsletter', yes: '4411', no: '4412' } }],
      },
    ),
    referenceTypes: Type.Array(
      Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-z][A-Za-z0-9]*$', examples: ['favouriteStore'] }),
      {
        description: 'The reference types that customers can have. Empty: any type in the reference cache.',
        maxItems: 200,
        uniqueItems: true,
        default: [],
        examples: [['favouriteStore', 'newsletter']],
      },
    ),
    backOfficeVersion: Type.String({
      description:
        'The version that the embedded back office reports. Features that need a later version are unavailable.',
      format: 'release',
      default: '2025.1',
      examples: ['2022.1'],
    }),
    requireIfMatch: flag('True if PUT requires `If-Match`.'),
    requireIdempotencyKey: flag('True if writes that accept `Idempotency-Key` require it.'),
    tombstoneRetentionDays: Type.Integer({
      description: 'Days for which the change feed reports removed records. Older cursors of the change feed expire.',
      minimum: 1,
      maximum: 3_650,
      default: 90,
      examples: [30],
    }),
    requestLogRetentionDays: Type.Integer({
      description: 'Days for which requests stay in the request log (`GET /requests`). 0 turns the log off.',
      minimum: 0,
      maximum: 90,
      default: 7,
      examples: [14],
    }),
    readsPerMinute: rate('Reads per account and minute, or `off`. Counted per process.', 24_000),
    writesPerMinute: rate('Writes per account and minute, or `off`. Counted per process.', 3_000),
  },
  { additionalProperties: false },
)

/** The default of each setting. */
export const defaultSettings = Object.fromEntries(
  Object.entries(Settings.properties).map(([name, schema]) => [
    name,
    (schema as unknown as { default: unknown }).default,
  ]),
) as Settings

/** A retailer's tenancy. */
export interface Service {
  id: number
  name: string
  settings: Settings
  /** When the service was last restored from a backup, or its times were corrected: a `timestamptz` as a string. Absent if never. */
  restoredAt?: string
  /** The name of the shard that holds the service. Absent if it is in the database of the accounts. */
  database?: string
}
