import { Type } from '../../schemas/schemas.ts'
import { Money, Nullable, Optional, Text } from '../values/fields.ts'

const discountType = Type.String({
  description: 'Why there is a discount.',
  minLength: 1,
  maxLength: 50,
  examples: ['loyalty'],
})
const discountReason = Text('The reason in words.', 'Gold member', 100)
const discountAmount = Money('The amount taken off the line.', '4.00')
const percentage = Type.String({
  description: 'The same in per cent.',
  pattern: '^\\d{1,3}(\\.\\d{1,4})?$',
  examples: ['13.34'],
})

/** What a caller says of a discount. */
export const DiscountInput = Type.Object(
  {
    type: discountType,
    reason: Optional(discountReason),
    amount: discountAmount,
    percentage: Optional(percentage),
  },
  { $id: 'DiscountInput', additionalProperties: false },
)

/** What was taken off a line. */
export const Discount = Type.Object(
  {
    type: discountType,
    reason: Nullable(discountReason),
    amount: discountAmount,
    percentage: Nullable(percentage),
  },
  { $id: 'Discount', additionalProperties: false },
)
