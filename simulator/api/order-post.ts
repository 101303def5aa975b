import { createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondCreated } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { parseWall, type Wall } from '../shop/clock.ts'
import type { Freight, Order, OrderLine } from '../shop/sales.ts'
import { createId, formatWebNumber, roundToCents, type Shop, sumAmounts } from '../shop/shop.ts'
import { hasFeature, type World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { prepareRedemption } from './coupons.ts'
import { lineShape, type Pricing, readOrderLine } from './order-lines.ts'
import { paymentShape, prepareDraws, readPayment } from './order-payments.ts'
import { findWarehouseId } from './order-xml.ts'
import { isEmptyAddress } from './person-xml.ts'
import { requirePerson } from './persons.ts'
import {
  addressesShape,
  contactsShape,
  readAddress,
  readContacts,
  readDay,
  readDecimal,
  readDocument,
  readFlag,
  readText,
} from './posted.ts'
import { getVoucherDueTime, readVoucherSale } from './voucher-sales.ts'

const choice = shape('Id Code')
const orderShape = shape(
  'OrderNumber PersonId PartnerOrderId NeedReview ReviewNotes OrderDateTime PricesIncludeTax UseSubmittedTaxRates PickupStoreId|DespatchType ExpectedDeliveryDate Carrier ServiceType SLA DeliveryInstructions|UnattendedDeliveryOption Addresses Contacts DeliveryContacts OrderDetails SelectedFreightOption Payments PointsPartner',
  {
    Carrier: choice,
    ServiceType: choice,
    SLA: choice,
    Addresses: addressesShape,
    Contacts: contactsShape,
    DeliveryContacts: contactsShape,
    OrderDetails: shape('OrderDetail', { OrderDetail: lineShape }),
    SelectedFreightOption: shape('Id Name Value TaxPercent'),
    Payments: shape('PaymentDetail', { PaymentDetail: paymentShape }),
    PointsPartner: shape('MembershipNumber'),
  },
)

/** The elements of an order that payload version 1 lacks. */
export const version2Elements = new Set(
  'PricesIncludeTax UseSubmittedTaxRates PickupStoreId DespatchType ExpectedDeliveryDate Carrier ServiceType SLA DeliveryInstructions UnattendedDeliveryOption DeliveryContacts PointsPartner'.split(
    ' ',
  ),
)

/** Returns the payload without the elements that this payload version and release do not support. */
function keepSupported(payload: Payload, { version }: ApiRequest, world: World): Payload {
  const children = payload.children.filter(({ name }) => {
    if (version2Elements.has(name)) return version >= 2
    if (name === 'PartnerOrderId') return hasFeature(world, 'partnerOrderId')
    return name === 'NeedReview' || name === 'ReviewNotes' ? hasFeature(world, 'review') : true
  })
  return { ...payload, children }
}

/** Returns the posted order number, or a generated one if it is missing. Throws an error response if an order or a return has the number. */
export function readFreeNumber(payload: Payload, shop: Shop): string {
  const number = readText(payload, 'OrderNumber', 30)
  const isTaken = (candidate: string) =>
    [...shop.orders.values(), ...shop.returns.values()].some(
      order => order.number.toLowerCase() === candidate.toLowerCase(),
    )
  if (number && isTaken(number)) throw createRejection(5052, { detail: number })
  if (number) return number
  for (;;) {
    const orderNumber = formatWebNumber(createId(shop, 'orderNumber'))
    if (!isTaken(orderNumber)) return orderNumber
  }
}

function readOrderTime(payload: Payload, world: World): Wall {
  const orderDateTime = findText(payload, 'OrderDateTime')
  if (!orderDateTime) return world.clock.wall()
  const wall = parseWall(orderDateTime.replace(' ', 'T'))
  if (wall === undefined || orderDateTime.length !== 19) throw createRejection(5092, { detail: orderDateTime })
  return wall
}

const despatchTypes = ['', 'ClickAndCollect', 'DespatchFromStore', 'DespatchFromWarehouse']

function readDespatch(payload: Payload, world: World): { despatchType: string; pickupStoreId: string } {
  const despatchType = findText(payload, 'DespatchType') ?? ''
  const pickupStoreId = findText(payload, 'PickupStoreId') ?? ''
  if (!despatchTypes.includes(despatchType)) throw createRejection(5114, { detail: despatchType })
  const isCollected = despatchType === 'ClickAndCollect'
  if (isCollected && !pickupStoreId) throw createRejection(5119)
  if (despatchType === 'DespatchFromWarehouse' && pickupStoreId) throw createRejection(5120)
  if (pickupStoreId && world.shop.stores.get(parseInteger(pickupStoreId) ?? 0)?.kind !== 'shop')
    throw createRejection(5082)
  if (isCollected && findElement(payload, 'SelectedFreightOption')) throw createRejection(5123)
  const expectedDay = readDay(payload, 'ExpectedDeliveryDate', 5189)
  if (isCollected && expectedDay) throw createRejection(5190)
  const unattended = findText(payload, 'UnattendedDeliveryOption')
  if (unattended && !['AuthorityToLeave', 'None'].includes(unattended)) throw createRejection(5150)
  return { despatchType, pickupStoreId }
}

function readFreight(payload: Payload | undefined, { taxPercent }: Pricing): Freight | undefined {
  const value = readDecimal(payload, 'Value')
  if (!payload || value === undefined) return
  const tax = readDecimal(payload, 'TaxPercent') ?? taxPercent
  return {
    id: readText(payload, 'Id', 22),
    name: readText(payload, 'Name', 250),
    value: roundToCents(value),
    taxPercent: tax,
  }
}

/** Creates the order line of the freight, which has its own SKU. */
function createFreightLine({ value, taxPercent }: Freight, sequence: number, { shop }: World): OrderLine {
  const sku = [...shop.skus.values()].find(({ colour }) => colour.style.special === 'freight')
  return {
    id: createId(shop, 'line'),
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

function reserveStock(order: Order, { shop, clock }: World): void {
  const warehouse = shop.stores.get(findWarehouseId(shop))
  if (!warehouse) return
  for (const line of order.lines) {
    const sku = shop.skus.get(line.skuId)
    if (!sku || sku.colour.style.special || line.quantity < 0) continue
    shop.stock.set(sku.row, warehouse.column, shop.stock.get(sku.row, warehouse.column) - line.quantity, clock.wall())
  }
}

function readOrder(payload: Payload, personId: number, request: ApiRequest, world: World): Order {
  if (parseInteger(findText(payload, 'PersonId')) !== personId) throw createRejection(5025)
  const number = readFreeNumber(payload, world.shop)
  const placedAt = readOrderTime(payload, world)
  const despatch = readDespatch(payload, world)
  const needReview = readFlag(payload, 'NeedReview', 5238)
  const billing = readAddress(findElement(payload, 'Addresses', 'Billing'))
  const delivery = readAddress(findElement(payload, 'Addresses', 'Delivery'))
  if (isEmptyAddress(billing)) throw createRejection(5005)
  if (isEmptyAddress(delivery)) throw createRejection(5021)
  const contact = readContacts(findElement(payload, 'Contacts'))
  if (!contact.email) throw createRejection(5004)
  const deliveryContacts = readContacts(findElement(payload, 'DeliveryContacts'))
  const pricing: Pricing = {
    pricesIncludeTax: readFlag(payload, 'PricesIncludeTax', 5109) ?? true,
    useSubmittedTaxRates: readFlag(payload, 'UseSubmittedTaxRates', 5109) ?? false,
    taxPercent: request.country.taxPercent,
  }
  const recipient = {
    contactName: delivery.contactName,
    email: deliveryContacts.email,
    despatchType: despatch.despatchType,
  }
  const lines = findElements(findElement(payload, 'OrderDetails'), 'OrderDetail').map((detail, i) => {
    const line = readOrderLine(detail, i, pricing, world)
    const voucher = readVoucherSale(detail, line, recipient, world)
    return voucher ? { ...line, voucher } : line
  })
  if (!lines.length) throw createRejection(5129)
  const freight = readFreight(findElement(payload, 'SelectedFreightOption'), pricing)
  if (freight) lines.push(createFreightLine(freight, lines.length, world))
  return {
    id: 0,
    number,
    personId,
    placedAt,
    updated: world.clock.wall(),
    currency: request.country.currency,
    billing,
    delivery,
    contacts: contact,
    deliveryContacts,
    lines,
    ...despatch,
    ...(freight && { freight }),
    partnerOrderId: readText(payload, 'PartnerOrderId', 250),
    pricesIncludeTax: pricing.pricesIncludeTax,
    needReview: needReview === undefined ? '' : String(needReview),
    reviewNotes: readText(payload, 'ReviewNotes', 250),
    deliveryInstructions: readText(payload, 'DeliveryInstructions', 250),
    payments: findElements(findElement(payload, 'Payments'), 'PaymentDetail').map(payment =>
      readPayment(payment, world),
    ),
    membershipNumber: findText(payload, 'PointsPartner', 'MembershipNumber') ?? '',
    vouchersDue: getVoucherDueTime(world),
    inWebTable: true,
  }
}

/** Creates an order. All checks come before the first effect. */
export const createOrder: Handler = (request, world) => {
  const { shop } = world
  const person = requirePerson(request, world)
  const payload = keepSupported(readDocument(request, world, 'Order', orderShape), request, world)
  const order = readOrder(payload, person.id, request, world)
  const paid = sumAmounts(order.payments.map(payment => payment.amount))
  const due = sumAmounts(order.lines.map(line => line.value))
  if (Math.abs(paid - due) > 0.005) throw createRejection(5026, { detail: `paid ${paid}, due ${due}` })
  const redeemVouchers = prepareDraws(order.payments, world)
  const redeemCoupon = prepareRedemption(
    findElements(findElement(payload, 'OrderDetails'), 'OrderDetail'),
    person.id,
    world,
  )
  order.id = createId(shop, 'order')
  shop.orders.set(order.id, order)
  redeemVouchers(order.id)
  redeemCoupon()
  reserveStock(order, world)
  world.recordEffect('order created', order.id, { number: order.number, person: person.id, due })
  for (const line of order.lines)
    if (line.voucher) {
      shop.awaitingVouchers.add(order.id)
      world.recordEffect('voucher sold', order.id, { line: line.id, amount: line.price })
    }
  return respondCreated(request, `/Persons/${person.id}/Orders/${order.id}`)
}
