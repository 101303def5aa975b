import { type Static, Type } from 'typebox'

const rate = (description: string, example: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal('off')], {
    description,
    default: example,
    examples: [example],
  })

/** What a service can be set to. `tillbridge service set` and `GET /settings` speak these names. */
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
    release: Type.String({
      description:
        'The release the embedded back office answers as: what needs a later one is unavailable (contract 4).',
      format: 'release',
      default: '2025.1',
      examples: ['2022.1'],
    }),
    readsPerMinute: rate('Reads an account may make in a minute, or `off`.', 6_000),
    writesPerMinute: rate('Writes an account may make in a minute, or `off`.', 1_200),
  },
  { $id: 'Settings', additionalProperties: false },
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
}
