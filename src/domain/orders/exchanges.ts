import { type Static, Type } from '../../schemas/schemas.ts'
import { Money } from '../values/fields.ts'
import { Order, OrderInput } from './orders.ts'
import { Return, ReturnInput } from './returns.ts'

/** The gateway of the payment with which a return pays for an order. Its reference is the number of the return. */
export const exchangeGateway = 'exchange'

export type ExchangeInput = Static<typeof ExchangeInput>
export const ExchangeInput = Type.Object(
  { orderReturn: ReturnInput, order: OrderInput },
  { $id: 'ExchangeInput', additionalProperties: false },
)

export const Exchange = Type.Object(
  {
    orderReturn: Return,
    order: Order,
    refund: Money('The rest of the return, which `POST /returns/{id}/refund` refunds.', '0.00'),
  },
  { $id: 'Exchange', additionalProperties: false },
)
