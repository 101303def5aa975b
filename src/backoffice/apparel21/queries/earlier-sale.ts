import { type VoucherSale, voucherSaleNumbered } from '../../../store/vouchers/upstream-sales.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { deriveNumber } from '../mapping/numbers.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import { isSameSale, type VoucherOrder } from '../mapping/sale-to-xml.ts'
import { readText } from '../xml/values.ts'
import { getOrderNumberLock } from './adopted-orders.ts'
import { fetchOrderByNumber } from './order-search.ts'
import { fetchPersonByEmail } from './persons.ts'

/** How many numbers of our own making are tried: each but the last was used up by the same key long ago. */
const maxAttempts = 10

/** The numbers that a sale may have and no other one here has, each held from then on: the one given, or those of our own making. */
export async function* lockSaleNumbers(
  { service, step, reference }: Pick<Write, 'service' | 'step' | 'reference'>,
  given: string | null | undefined,
): AsyncGenerator<string> {
  for (let turn = 0; turn < (given ? 1 : maxAttempts); turn++) {
    const number = given ?? deriveNumber('W', reference, turn)
    const holding = { names: [getOrderNumberLock(number)], untilKnown: true }
    if (!(await step(tx => voucherSaleNumbered(tx, service, number), holding))) yield number
  }
}

/**
 * The sale of a voucher that an earlier attempt at this write has made, which was left open; undefined: there is none. What vouchers are
 * sold as may be something else by now, or nothing.
 */
export async function findEarlierSale(
  client: Client,
  write: Pick<Write, 'service' | 'step' | 'reference'>,
  sale: Omit<VoucherOrder, 'number' | 'personId' | 'skuId' | 'voucherType'>,
): Promise<VoucherSale | undefined> {
  const receiver = await fetchPersonByEmail(client, sale.receiverEmail)
  if (!receiver) return
  const personId = readPersonId(receiver)
  for await (const number of lockSaleNumbers(write, sale.orderNumber)) {
    const order = await fetchOrderByNumber(client, number, personId)
    if (!order) return
    if (isSameSale(order, { ...sale, personId }))
      return {
        number,
        gateway: sale.gateway,
        amount: sale.amount,
        personId,
        orderId: readText(order, 'Id') ?? undefined,
      }
  }
  return
}
