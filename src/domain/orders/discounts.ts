import { Type } from '../../schemas/schemas.ts'
import { Money, Nullable, Optional, Text } from '../values/fields.ts'

const discountType = Type.String({
  description: 'The type of discount.',
  minLength: 1,
  maxLength: 50,
  examples: ['loyalty'],
})
const discountReason = Text('The reason for the discount.', 'Gold member', 100)
const discountAmount = Money('The amount of the discount.', '4.00')
const percentage = Type.String({
  description: 'The discount in per cent.',
  pattern: '^\\d{1,3}(\\.\\d{1,4})?$',
  examples: ['13.34'],
})

export const DiscountInput = Type.Object(
  {
    type: discountType,
    reason: Optional(discountReason),
    amount: discountAmount,
    percentage: Optional(percentage),
  },
  { $id: 'DiscountInput', additionalProperties: false },
)

export const Discount = Type.Object(
  {
    type: discountType,
    reason: Nullable(discountReason),
    amount: discountAmount,
    percentage: Nullable(percentage),
  },
  { $id: 'Discount', additionalProperties: false },
)
