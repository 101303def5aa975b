import { created } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { readWall, type Wall } from '../shop/clock.ts'
import type { Freight, Order, OrderLine } from '../shop/sales.ts'
import { cents, next, type Shop, sum, webNumber } from '../shop/shop.ts'
import { has, type World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { couponRedemption } from './coupons.ts'
import { lineFrom, lineShape, type Pricing } from './order-lines.ts'
import { drawing, paymentFrom, paymentShape } from './order-payments.ts'
import { warehouseOf } from './order-xml.ts'
import { isEmptyAddress } from './person-xml.ts'
import { personOf } from './persons.ts'
import { addresses, addressFrom, contacts, contactsFrom, dayOf, decimal, flag, posted, text } from './posted.ts'
import { voucherDue, voucherSaleFrom } from './voucher-sales.ts'

const choice = shape('Id Code')
const orderShape = shape(
  'OrderNumber PersonId PartnerOrderId NeedReview ReviewNotes OrderDateTime PricesIncludeTax UseSubmittedTaxRates PickupStoreId|DespatchType ExpectedDeliveryDate Carrier ServiceType SLA DeliveryInstructions|UnattendedDeliveryOption Addresses Contacts DeliveryContacts OrderDetails SelectedFreightOption Payments PointsPartner',
  {
    Carrier: choice,
    ServiceType: choice,
    SLA: choice,
    Addresses: addresses,
    Contacts: contacts,
    DeliveryContacts: contacts,
    OrderDetails: shape('OrderDetail', { OrderDetail: lineShape }),
    SelectedFreightOption: shape('Id Name Value TaxPercent'),
    Payments: shape('PaymentDetail', { PaymentDetail: paymentShape }),
    PointsPartner: shape('MembershipNumber'),
  },
)

/** Order elements that payload version 1 doesn't have. */
export const ofVersion2 = new Set(
  'PricesIncludeTax UseSubmittedTaxRates PickupStoreId DespatchType ExpectedDeliveryDate Carrier ServiceType SLA DeliveryInstructions UnattendedDeliveryOption DeliveryContacts PointsPartner'.split(
    ' ',
  ),
)

/** Returns the payload without the elements that this payload version and release do not support. */
function keepSupported(payload: Payload, { version }: ApiRequest, world: World): Payload {
  const children = payload.children.filter(({ name }) => {
    if (ofVersion2.has(name)) return version >= 2
    if (name === 'PartnerOrderId') return has(world, 'partnerOrderId')
    return name === 'NeedReview' || name === 'ReviewNotes' ? has(world, 'review') : true
  })
  return { ...payload, children }
}

/** Returns a number that no order and no return has. Generates one if none is sent. */
export function freeNumber(payload: Payload, shop: Shop): string {
  const number = text(payload, 'OrderNumber', 30)
  const isTaken = (candidate: string) =>
    [...shop.orders.values(), ...shop.returns.values()].some(
      order => order.number.toLowerCase() === candidate.toLowerCase(),
    )
  if (number && isTaken(number)) throw createRejection(5052, { detail: number })
  if (number) return number
  for (;;) {
    const orderNumber = webNumber(next(shop, 'orderNumber'))
    if (!isTaken(orderNumber)) return orderNumber
  }
}

function placedAt(payload: Payload, world: World): Wall {
  const sent = textAt(payload, 'OrderDateTime')
  if (!sent) return world.clock.wall()
  const wall = readWall(sent.replace(' ', 'T'))
  if (wall === undefined || sent.length !== 19) throw createRejection(5092, { detail: sent })
  return wall
}

const despatchTypes = ['', 'ClickAndCollect', 'DespatchFromStore', 'DespatchFromWarehouse']

function despatchOf(payload: Payload, world: World): { despatchType: string; pickupStoreId: string } {
  const despatchType = textAt(payload, 'DespatchType') ?? ''
  const pickupStoreId = textAt(payload, 'PickupStoreId') ?? ''
  if (!despatchTypes.includes(despatchType)) throw createRejection(5114, { detail: despatchType })
  const collects = despatchType === 'ClickAndCollect'
  if (collects && !pickupStoreId) throw createRejection(5119)
  if (despatchType === 'DespatchFromWarehouse' && pickupStoreId) throw createRejection(5120)
  if (pickupStoreId && world.shop.stores.get(whole(pickupStoreId) ?? 0)?.kind !== 'shop') throw createRejection(5082)
  if (collects && at(payload, 'SelectedFreightOption')) throw createRejection(5123)
  const expectedDay = dayOf(payload, 'ExpectedDeliveryDate', 5189)
  if (collects && expectedDay) throw createRejection(5190)
  const unattended = textAt(payload, 'UnattendedDeliveryOption')
  if (unattended && !['AuthorityToLeave', 'None'].includes(unattended)) throw createRejection(5150)
  return { despatchType, pickupStoreId }
}

function freightFrom(payload: Payload | undefined, { taxPercent }: Pricing): Freight | undefined {
  const value = decimal(payload, 'Value')
  if (!payload || value === undefined) return
  const tax = decimal(payload, 'TaxPercent') ?? taxPercent
  return { id: text(payload, 'Id', 22), name: text(payload, 'Name', 250), value: cents(value), taxPercent: tax }
}

/** Freight is a separate line with a separate SKU. */
function freightLine({ value, taxPercent }: Freight, sequence: number, { shop }: World): OrderLine {
  const sku = [...shop.skus.values()].find(({ colour }) => colour.style.special === 'freight')
  return {
    id: next(shop, 'line'),
    sequence,
    skuId: sku?.id ?? 0,
    quantity: 1,
    price: value,
    value,
    taxPercent,
    discounts: [],
    customisation: '',
    giftWrap: false,
    giftWrapMessage: '',
    senderName: '',
    receiverName: '',
    returnReasonId: '',
    returnReasonNotes: '',
    status: 'Processing',
    carrier: '',
    conNote: '',
  }
}

function reserve(order: Order, { shop, clock }: World): void {
  const warehouse = shop.stores.get(warehouseOf(shop))
  if (!warehouse) return
  for (const line of order.lines) {
    const sku = shop.skus.get(line.skuId)
    if (!sku || sku.colour.style.special || line.quantity < 0) continue
    shop.stock.set(sku.row, warehouse.column, shop.stock.at(sku.row, warehouse.column) - line.quantity, clock.wall())
  }
}

function orderFrom(payload: Payload, personId: number, request: ApiRequest, world: World): Order {
  if (whole(textAt(payload, 'PersonId')) !== personId) throw createRejection(5025)
  const number = freeNumber(payload, world.shop)
  const placed = placedAt(payload, world)
  const despatch = despatchOf(payload, world)
  const needReview = flag(payload, 'NeedReview', 5238)
  const billing = addressFrom(at(payload, 'Addresses', 'Billing'))
  const delivery = addressFrom(at(payload, 'Addresses', 'Delivery'))
  if (isEmptyAddress(billing)) throw createRejection(5005)
  if (isEmptyAddress(delivery)) throw createRejection(5021)
  const contact = contactsFrom(at(payload, 'Contacts'))
  if (!contact.email) throw createRejection(5004)
  const deliveryContacts = contactsFrom(at(payload, 'DeliveryContacts'))
  const pricing: Pricing = {
    pricesIncludeTax: flag(payload, 'PricesIncludeTax', 5109) ?? true,
    useSubmittedTaxRates: flag(payload, 'UseSubmittedTaxRates', 5109) ?? false,
    taxPercent: request.country.taxPercent,
  }
  const to = { contactName: delivery.contactName, email: deliveryContacts.email, despatchType: despatch.despatchType }
  const lines = every(at(payload, 'OrderDetails'), 'OrderDetail').map((detail, i) => {
    const line = lineFrom(detail, i, pricing, world)
    const voucher = voucherSaleFrom(detail, line, to, world)
    return voucher ? { ...line, voucher } : line
  })
  if (!lines.length) throw createRejection(5129)
  const freight = freightFrom(at(payload, 'SelectedFreightOption'), pricing)
  if (freight) lines.push(freightLine(freight, lines.length, world))
  return {
    id: 0,
    number,
    personId,
    placed,
    updated: world.clock.wall(),
    currency: request.country.currency,
    billing,
    delivery,
    contacts: contact,
    deliveryContacts,
    lines,
    ...despatch,
    ...(freight && { freight }),
    partnerOrderId: text(payload, 'PartnerOrderId', 250),
    pricesIncludeTax: pricing.pricesIncludeTax,
    needReview: needReview === undefined ? '' : String(needReview),
    reviewNotes: text(payload, 'ReviewNotes', 250),
    deliveryInstructions: text(payload, 'DeliveryInstructions', 250),
    payments: every(at(payload, 'Payments'), 'PaymentDetail').map(payment => paymentFrom(payment, world)),
    membershipNumber: textAt(payload, 'PointsPartner', 'MembershipNumber') ?? '',
    vouchersDue: voucherDue(world),
    inWebTable: true,
  }
}

/** Checks all of an order before any of it takes effect. */
export const createOrder: Handler = (request, world) => {
  const { shop } = world
  const person = personOf(request, world)
  const payload = keepSupported(posted(request, world, 'Order', orderShape), request, world)
  const order = orderFrom(payload, person.id, request, world)
  const paid = sum(order.payments.map(payment => payment.amount))
  const due = sum(order.lines.map(line => line.value))
  if (Math.abs(paid - due) > 0.005) throw createRejection(5026, { detail: `paid ${paid}, due ${due}` })
  const draw = drawing(order.payments, world)
  const redeemCoupon = couponRedemption(every(at(payload, 'OrderDetails'), 'OrderDetail'), person.id, world)
  order.id = next(shop, 'order')
  shop.orders.set(order.id, order)
  draw(order.id)
  redeemCoupon()
  reserve(order, world)
  world.note('order created', order.id, { number: order.number, person: person.id, due })
  for (const line of order.lines)
    if (line.voucher) {
      shop.awaitingVouchers.add(order.id)
      world.note('voucher sold', order.id, { line: line.id, amount: line.price })
    }
  return created(request, `/Persons/${person.id}/Orders/${order.id}`)
}
