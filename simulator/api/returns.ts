import { type Answer, created, ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { isoText } from '../shop/clock.ts'
import type { Order, OrderLine, Return } from '../shop/sales.ts'
import { cents, next, sum } from '../shop/shop.ts'
import { has, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { paymentFrom, refundShape } from './order-payments.ts'
import { freeNumber } from './order-post.ts'
import { lineElement, paymentElement } from './order-xml.ts'
import { currencyElement } from './person-xml.ts'
import { personOf } from './persons.ts'
import { decimal, flag, posted, text } from './posted.ts'

const returnShape = shape('OrderNumber OrigOrderNum PersonId StockUpdate OrderDetails Payments', {
  OrderDetails: shape('OrderDetail', {
    OrderDetail: shape('SkuId Quantity ReturnReasonId ReturnReasonNotes Carrier ConNote'),
  }),
  Payments: shape('PaymentDetail', { PaymentDetail: refundShape }),
})

/** The order in the path, if it is this person's. */
function originalOf(request: ApiRequest, world: World): Order {
  const person = personOf(request, world)
  const order = world.shop.orders.get(whole(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id) throw nothing()
  return order
}

function lineFrom(payload: Payload, sequence: number, order: Order, world: World): OrderLine {
  const skuId = whole(textAt(payload, 'SkuId'))
  const sold = order.lines.find(line => line.skuId === skuId && line.quantity > 0)
  if (!sold) throw createRejection(5139, { detail: textAt(payload, 'SkuId') ?? '' })
  const quantity = decimal(payload, 'Quantity')
  if (!quantity) throw createRejection(5143)
  if (quantity > 0) throw createRejection(5140)
  const returnReasonId = textAt(payload, 'ReturnReasonId') ?? ''
  if (!returnReasonId) throw createRejection(5084)
  if (!world.shop.referenceTypes.get(272)?.references.has(whole(returnReasonId) ?? 0)) throw createRejection(5085)
  const [carrier, conNote] = [textAt(payload, 'Carrier') ?? '', textAt(payload, 'ConNote') ?? '']
  if (carrier.length > 12) throw createRejection(5142)
  if (conNote.length > 50) throw createRejection(5141)
  return {
    ...sold,
    id: next(world.shop, 'line'),
    sequence,
    quantity,
    value: cents((sold.value / sold.quantity) * quantity),
    discounts: [],
    taxPercent: null,
    returnReasonId,
    carrier,
    conNote,
    status: 'Processing',
    returnReasonNotes: text(payload, 'ReturnReasonNotes', 250),
  }
}

/** Creates a return of a web order. Returning more than was bought is accepted, because no code for it is known. */
export const createReturn: Handler = (request, world): Answer => {
  const { shop, clock, settings } = world
  const order = originalOf(request, world)
  const payload = posted(request, world, 'ReturnOrder', returnShape)
  const personId = textAt(payload, 'PersonId')
  if (!personId) throw createRejection(5135)
  if (whole(personId) !== order.personId) throw createRejection(5136)
  const originalNumber = textAt(payload, 'OrigOrderNum')
  if (!originalNumber) throw createRejection(5138)
  if (originalNumber.toLowerCase() !== order.number.toLowerCase())
    throw createRejection(5133, { detail: originalNumber })
  if (!['', 'DespatchFromWarehouse'].includes(order.despatchType)) throw createRejection(5087)
  const stockUpdate = flag(payload, 'StockUpdate', 5211) ?? true
  const number = freeNumber(payload, shop)
  const details = every(at(payload, 'OrderDetails'), 'OrderDetail')
  if (!details.length) throw createRejection(5143)
  const lines = details.map((detail, i) => lineFrom(detail, i, order, world))
  const refunds =
    request.version >= 4 && has(world, 'returnPayments') ? every(at(payload, 'Payments'), 'PaymentDetail') : []
  const payments = refunds.map(refund => paymentFrom(refund, world))
  const id = next(shop, 'return')
  const record: Return = {
    id,
    number,
    authorisation: `X${String(id).padStart(7, '0')}`,
    orderId: order.id,
    originalNumber: order.number,
    personId: order.personId,
    created: clock.wall(),
    stockUpdate,
    status: 9,
    lines,
    payments,
  }
  shop.returns.set(id, record)
  const units = lines.map(line => ({ sku: line.skuId, quantity: line.quantity }))
  world.note('return created', id, { number, order: order.id, lines: units })
  return {
    ...created(request, `/Persons/${order.personId}/Orders/${order.id}/Returns/${id}`),
    status: settings.returnStatus,
  }
}

/** Shows a return, with the number of the exchange order that the shopper needs. */
export function returnElement(record: Return, order: Order, shop: World['shop']) {
  const shown = { asPosted: false, lineWarehouse: false }
  return el('ReturnOrder', [
    ...fields({ Id: record.id, OrderNumber: record.number, OrigOrderNum: record.originalNumber }),
    ...fields({ ReturnAuthorisationNumber: record.authorisation, PersonId: record.personId }),
    ...fields({
      OrderDateTime: isoText(record.created),
      TotalQuantity: sum(record.lines.map(line => line.quantity)),
    }),
    ...fields({
      TotalDue: sum(record.lines.map(line => line.value)),
      StockUpdate: record.stockUpdate ? 'True' : 'False',
    }),
    array(
      'OrderDetails',
      record.lines.map(line => lineElement(line, shop, shown)),
      { TotalRows: record.lines.length },
    ),
    array(
      'Payments',
      record.payments.map((payment, i) => paymentElement(payment, record.id * 10 + i)),
      { TotalRows: record.payments.length },
    ),
    currencyElement(order.currency),
  ])
}

export const oneReturn: Handler = (request, world) => {
  const { shop } = world
  const order = originalOf(request, world)
  const record = shop.returns.get(whole(request.parameters[2]) ?? 0)
  if (record?.orderId !== order.id) throw nothing()
  return ok(returnElement(record, order, shop))
}

/** Deletes a return that has not been received. */
export const deleteReturn: Handler = (request, world) => {
  const record = world.shop.returns.get(whole(request.parameters[0]) ?? 0)
  if (record?.status !== 9) throw nothing()
  world.shop.returns.delete(record.id)
  world.note('return deleted', record.id, { number: record.number })
  return ok()
}
