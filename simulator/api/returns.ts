import { createNoDataError, createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { type ApiResponse, respondCreated, respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatIso } from '../shop/clock.ts'
import type { Order, OrderLine, Return } from '../shop/sales.ts'
import { createId, roundToCents, sumAmounts } from '../shop/shop.ts'
import { hasFeature, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { readPayment, refundShape } from './order-payments.ts'
import { readFreeNumber } from './order-post.ts'
import { buildOrderLine, buildPayment } from './order-xml.ts'
import { buildCurrency } from './person-xml.ts'
import { requirePerson } from './persons.ts'
import { readDecimal, readDocument, readFlag, readText } from './posted.ts'

const returnShape = shape('OrderNumber OrigOrderNum PersonId StockUpdate OrderDetails Payments', {
  OrderDetails: shape('OrderDetail', {
    OrderDetail: shape('SkuId Quantity ReturnReasonId ReturnReasonNotes Carrier ConNote'),
  }),
  Payments: shape('PaymentDetail', { PaymentDetail: refundShape }),
})

/** Returns the order in the path. Throws "no data found" if it isn't an order of this person. */
function requireOriginalOrder(request: ApiRequest, world: World): Order {
  const person = requirePerson(request, world)
  const order = world.shop.orders.get(parseInteger(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id) throw createNoDataError()
  return order
}

function readReturnLine(payload: Payload, sequence: number, order: Order, world: World): OrderLine {
  const skuId = parseInteger(findText(payload, 'SkuId'))
  const soldLine = order.lines.find(line => line.skuId === skuId && line.quantity > 0)
  if (!soldLine) throw createRejection(5139, { detail: findText(payload, 'SkuId') ?? '' })
  const quantity = readDecimal(payload, 'Quantity')
  if (!quantity) throw createRejection(5143)
  if (quantity > 0) throw createRejection(5140)
  const returnReasonId = findText(payload, 'ReturnReasonId') ?? ''
  if (!returnReasonId) throw createRejection(5084)
  if (!world.shop.referenceTypes.get(272)?.references.has(parseInteger(returnReasonId) ?? 0))
    throw createRejection(5085)
  const [carrier, conNote] = [findText(payload, 'Carrier') ?? '', findText(payload, 'ConNote') ?? '']
  if (carrier.length > 12) throw createRejection(5142)
  if (conNote.length > 50) throw createRejection(5141)
  return {
    ...soldLine,
    id: createId(world.shop, 'line'),
    sequence,
    quantity,
    value: roundToCents((soldLine.value / soldLine.quantity) * quantity),
    discounts: [],
    taxPercent: null,
    returnReasonId,
    carrier,
    conNote,
    status: 'Processing',
    returnReasonNotes: readText(payload, 'ReturnReasonNotes', 250),
  }
}

/** Creates a return of a web order. Accepts more units than were bought, because the guide has no error for them. */
export const createReturn: Handler = (request, world): ApiResponse => {
  const { shop, clock, settings } = world
  const order = requireOriginalOrder(request, world)
  const payload = readDocument(request, world, 'ReturnOrder', returnShape)
  const personId = findText(payload, 'PersonId')
  if (!personId) throw createRejection(5135)
  if (parseInteger(personId) !== order.personId) throw createRejection(5136)
  const originalNumber = findText(payload, 'OrigOrderNum')
  if (!originalNumber) throw createRejection(5138)
  if (originalNumber.toLowerCase() !== order.number.toLowerCase())
    throw createRejection(5133, { detail: originalNumber })
  if (!['', 'DespatchFromWarehouse'].includes(order.despatchType)) throw createRejection(5087)
  const stockUpdate = readFlag(payload, 'StockUpdate', 5211) ?? true
  const number = readFreeNumber(payload, shop)
  const details = findElements(findElement(payload, 'OrderDetails'), 'OrderDetail')
  if (!details.length) throw createRejection(5143)
  const lines = details.map((detail, i) => readReturnLine(detail, i, order, world))
  const refunds =
    request.version >= 4 && hasFeature(world, 'returnPayments')
      ? findElements(findElement(payload, 'Payments'), 'PaymentDetail')
      : []
  const payments = refunds.map(refund => readPayment(refund, world))
  const id = createId(shop, 'return')
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
  world.recordEffect('return created', id, { number, order: order.id, lines: units })
  return {
    ...respondCreated(request, `/Persons/${order.personId}/Orders/${order.id}/Returns/${id}`),
    status: settings.returnStatus,
  }
}

/** Builds a return, with the number of the exchange order that the shopper needs. */
export function buildReturn(record: Return, order: Order, shop: World['shop']) {
  const options = { asPosted: false, lineWarehouse: false }
  return el('ReturnOrder', [
    ...fields({ Id: record.id, OrderNumber: record.number, OrigOrderNum: record.originalNumber }),
    ...fields({ ReturnAuthorisationNumber: record.authorisation, PersonId: record.personId }),
    ...fields({
      OrderDateTime: formatIso(record.created),
      TotalQuantity: sumAmounts(record.lines.map(line => line.quantity)),
    }),
    ...fields({
      TotalDue: sumAmounts(record.lines.map(line => line.value)),
      StockUpdate: record.stockUpdate ? 'True' : 'False',
    }),
    array(
      'OrderDetails',
      record.lines.map(line => buildOrderLine(line, shop, options)),
      { TotalRows: record.lines.length },
    ),
    array(
      'Payments',
      record.payments.map((payment, i) => buildPayment(payment, record.id * 10 + i)),
      { TotalRows: record.payments.length },
    ),
    buildCurrency(order.currency),
  ])
}

export const getReturn: Handler = (request, world) => {
  const { shop } = world
  const order = requireOriginalOrder(request, world)
  const record = shop.returns.get(parseInteger(request.parameters[2]) ?? 0)
  if (record?.orderId !== order.id) throw createNoDataError()
  return respondOk(buildReturn(record, order, shop))
}

/** Deletes a return that has not been received. */
export const deleteReturn: Handler = (request, world) => {
  const record = world.shop.returns.get(parseInteger(request.parameters[0]) ?? 0)
  if (record?.status !== 9) throw createNoDataError()
  world.shop.returns.delete(record.id)
  world.recordEffect('return deleted', record.id, { number: record.number })
  return respondOk()
}
