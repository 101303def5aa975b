import { type VoucherSale, voucherSaleNumbered } from '../../../store/vouchers/upstream-sales.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { derivedNumber } from '../mapping/numbers.ts'
import { idOf } from '../mapping/person-from-xml.ts'
import { isThisSale, type Sale } from '../mapping/sale-to-xml.ts'
import { text } from '../xml/values.ts'
import { orderNumberHold } from './adopted-orders.ts'
import { orderNumbered } from './order-search.ts'
import { personByEmail } from './persons.ts'

/** How many numbers of our own making are tried: each but the last was used up by the same key long ago. */
const mostTurns = 10

/** The numbers that a sale may have and no other one here has, each held from then on: the one given, or those of our own making. */
export async function* saleNumbers(
  { service, step, reference }: Pick<Write, 'service' | 'step' | 'reference'>,
  given: string | null | undefined,
): AsyncGenerator<string> {
  for (let turn = 0; turn < (given ? 1 : mostTurns); turn++) {
    const number = given ?? derivedNumber('W', reference, turn)
    const holding = { names: [orderNumberHold(number)], untilKnown: true }
    if (!(await step(tx => voucherSaleNumbered(tx, service, number), holding))) yield number
  }
}

/**
 * The sale of a voucher that an earlier attempt at this write has made, which was left open; undefined: there is none. What vouchers are
 * sold as may be something else by now, or nothing.
 */
export async function earlierSale(
  client: Client,
  write: Pick<Write, 'service' | 'step' | 'reference'>,
  sale: Omit<Sale, 'number' | 'personId' | 'skuId' | 'voucherType'>,
): Promise<VoucherSale | undefined> {
  const receiver = await personByEmail(client, sale.receiverEmail)
  if (!receiver) return
  const personId = idOf(receiver)
  for await (const number of saleNumbers(write, sale.orderNumber)) {
    const order = await orderNumbered(client, number, personId)
    if (!order) return
    if (isThisSale(order, { ...sale, personId }))
      return { number, gateway: sale.gateway, amount: sale.amount, personId, orderId: text(order, 'Id') ?? undefined }
  }
  return
}
