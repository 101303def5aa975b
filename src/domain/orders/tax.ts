import { type Static, Type } from '../../schemas/schemas.ts'
import { Money, Nullable, Optional } from '../values/fields.ts'

const name = Type.String({
  description: 'The name of the tax.',
  minLength: 1,
  maxLength: 100,
  examples: ['NY State Tax'],
})
const percentage = Type.String({
  description: 'The rate in per cent.',
  pattern: '^\\d{1,3}(\\.\\d{1,4})?$',
  examples: ['8.875'],
})
const amount = Money('The amount of the tax, in addition to the prices.', '2.31')

/** A sales tax on top of the prices, in a request. */
export const TaxLineInput = Type.Object(
  { name, percentage: Optional(percentage), amount },
  { $id: 'TaxLineInput', additionalProperties: false },
)

/** A sales tax on top of the prices. */
export type TaxLine = Static<typeof TaxLine>
export const TaxLine = Type.Object(
  { name, percentage: Nullable(percentage), amount },
  { $id: 'TaxLine', additionalProperties: false },
)
