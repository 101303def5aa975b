import { findVoucherSale, type VoucherSale } from '../../../store/vouchers/upstream-sales.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { deriveNumber } from '../mapping/numbers.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import { isSameSale, type VoucherOrder } from '../mapping/sale-to-xml.ts'
import { readText } from '../xml/values.ts'
import { getOrderNumberLock } from './adopted-orders.ts'
import { fetchOrderByNumber } from './order-search.ts'
import { fetchPersonByEmail } from './persons.ts'

/** Derived numbers that are tried. A number is taken if an earlier write with the same Idempotency-Key sold a voucher under it. */
const maxAttempts = 10

/**
 * Yields the free numbers that a sale can have, each locked until the write ends: the caller's number, otherwise numbers derived from the
 * write's reference.
 */
export async function* lockSaleNumbers(
  { service, stage, reference }: Pick<Write, 'service' | 'stage' | 'reference'>,
  callerNumber: string | null | undefined,
): AsyncGenerator<string> {
  for (let attempt = 0; attempt < (callerNumber ? 1 : maxAttempts); attempt++) {
    const number = callerNumber ?? deriveNumber('W', reference, attempt)
    const lock = { names: [getOrderNumberLock(number)], untilResolved: true }
    if (!(await stage(tx => findVoucherSale(tx, service, number), lock))) yield number
  }
}

/**
 * Returns the voucher sale of an earlier, in-doubt attempt at this write. Returns undefined if there is no such sale. The SKU is not
 * compared, because the setting may have changed.
 */
export async function findEarlierSale(
  client: Client,
  write: Pick<Write, 'service' | 'stage' | 'reference'>,
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
}
