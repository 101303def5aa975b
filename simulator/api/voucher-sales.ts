import { createRejection } from '../http/errors.ts'
import { formatDate, secondMs } from '../shop/clock.ts'
import { emailVoucher, type Voucher } from '../shop/records.ts'
import type { Order, OrderLine, VoucherSale } from '../shop/sales.ts'
import { createId } from '../shop/shop.ts'
import { hasFeature, type World } from '../world/world.ts'
import { findElement, type Payload } from '../xml/payload.ts'
import { readDay, readText } from './posted.ts'

/** The code of the voucher type that only tills can sell. Types other than this and `emailVoucher` are printed. */
const inStoreType = 'GV_STORE'

/** Throws an error response if a sale can't activate this physical card. */
function requireActivatableCard(number: string, { shop }: World): void {
  if (!/^\d{4,50}$/.test(number)) throw createRejection(5071)
  const card = shop.vouchers.get(number)
  if (!card || card.state === 'suspended') throw createRejection(5056)
  if (card.state === 'range suspended') throw createRejection(5059)
  if (card.promotional) throw createRejection(5127)
  if (card.state === 'issued') throw createRejection(5128)
}

interface Delivery {
  contactName: string
  email: string
  despatchType: string
}

/** Returns the voucher that a line buys, or undefined if its SKU isn't a voucher. */
export function readVoucherSale(
  payload: Payload,
  line: OrderLine,
  delivery: Delivery,
  world: World,
): VoucherSale | undefined {
  if (world.shop.skus.get(line.skuId)?.colour.style.special !== 'voucher') return
  if (line.quantity !== 1) throw createRejection(5077)
  if (!delivery.contactName) throw createRejection(5072)
  if (delivery.despatchType && delivery.despatchType !== 'DespatchFromWarehouse') throw createRejection(5083)
  const block = findElement(payload, 'ExtraVoucherInformation')
  const type = readText(block, 'VoucherType', 15)
  if (!type) throw createRejection(5076)
  const types = [...(world.shop.referenceTypes.get(368)?.references.values() ?? [])]
  if (!types.some(({ code }) => code === type)) throw createRejection(5074, { detail: type })
  if (type === inStoreType) throw createRejection(5073)
  const number = readText(block, 'VoucherNumber', 50)
  if (number) requireActivatableCard(number, world)
  const subject = readText(block, 'EmailSubject', 4_000)
  const email = readText(block, 'Email', 250) || delivery.email
  if (type === emailVoucher && !subject) throw createRejection(5075)
  if (type === emailVoucher && !/^[^\s@,;]+@[^\s@,;]+$/.test(email)) throw createRejection(5069, { detail: email })
  const message = readText(block, 'PersonalisedMessage', 4_000)
  const deliveryDate = block && hasFeature(world, 'voucherDeliveryDate') ? readDay(block, 'DeliveryDate') : ''
  return { type, number, subject, email, message, deliveryDate, allotted: '' }
}

/** Activates a voucher. Its number and PIN are emailed, and no API call returns them. */
function allot(sale: VoucherSale, line: OrderLine, order: Order, world: World): void {
  const { shop, clock, random } = world
  const number = sale.number || String(createId(shop, 'voucher'))
  const voucher: Voucher = {
    number,
    type: sale.type,
    currency: order.currency,
    original: line.price,
    used: 0,
    writtenOff: 0,
    state: 'issued',
    secure: true,
    wholeOnly: false,
    promotional: false,
    validationId: '',
    lockedUntil: 0,
    pin: shop.vouchers.get(number)?.pin ?? String(random.integer(0, 9_999)).padStart(4, '0'),
    expires: formatDate(clock.wall() + 3 * 365 * 86_400_000),
  }
  shop.vouchers.set(number, voucher)
  sale.allotted = number
  world.recordEffect('voucher allotted', number, { order: order.id, line: line.id, to: sale.email })
  if (sale.type !== emailVoucher) return
  const mail = { to: sale.email, subject: sale.subject, voucher: number, pin: voucher.pin, amount: line.price }
  shop.mail.push({ at: new Date(clock.now()).toISOString(), ...mail })
}

/** Allots the vouchers that are due, or all sold vouchers with `isForced`. Returns their number. */
export function allotDueVouchers(world: World, isForced = false): number {
  const { shop, clock } = world
  let count = 0
  for (const id of shop.awaitingVouchers) {
    const order = shop.orders.get(id)
    let waiting = 0
    for (const line of order?.lines ?? []) {
      const { voucher } = line
      if (!order || !voucher || voucher.allotted) continue
      const day = voucher.deliveryDate
      const isDue = order.vouchersDue <= clock.now() && (day === '' || day <= formatDate(clock.wall()))
      if (isForced || isDue) {
        allot(voucher, line, order, world)
        count++
      } else waiting++
    }
    if (!waiting) shop.awaitingVouchers.delete(id)
  }
  return count
}

/** Returns the time at which the vouchers of an order placed now are allotted, in milliseconds since 1970. */
export const getVoucherDueTime = ({ clock, settings }: World) => clock.now() + settings.voucherSeconds * secondMs
