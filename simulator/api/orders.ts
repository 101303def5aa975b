import { createNoDataError, createRejection } from '../http/errors.ts'
import { fromZero, respondPaged } from '../http/paging.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { parseWall } from '../shop/clock.ts'
import type { Order } from '../shop/sales.ts'
import { hasFeature, isAfter, type World } from '../world/world.ts'
import { type Element, fields } from '../xml/element.ts'
import { version2Elements } from './order-post.ts'
import { buildOrder } from './order-xml.ts'
import { requirePerson } from './persons.ts'
import { buildReturn } from './returns.ts'

/** Builds the elements that later releases and payload versions added. */
function buildExtras(order: Order, { version }: ApiRequest, world: World): Element[] {
  return [
    ...(hasFeature(world, 'partnerOrderId') ? fields({ PartnerOrderId: order.partnerOrderId }) : []),
    ...(hasFeature(world, 'review') ? fields({ NeedReview: order.needReview, ReviewNotes: order.reviewNotes }) : []),
    ...(version >= 2 && order.membershipNumber ? fields({ PointsPartner: order.membershipNumber }) : []),
  ]
}

function buildShownOrder(order: Order, number: number, request: ApiRequest, world: World, asPosted: boolean): Element {
  const lineWarehouse = hasFeature(world, 'orderLineWarehouse')
  const element = buildOrder(order, number, world.shop, { asPosted, lineWarehouse }, buildExtras(order, request, world))
  if (request.version >= 2 || !Array.isArray(element.content)) return element
  return { ...element, content: element.content.filter((child: Element) => !version2Elements.has(child.name)) }
}

function createChangeFilter(request: ApiRequest, world: World): (order: Order) => boolean {
  const text = request.query('updatedAfter')
  if (!text) return () => true
  const since = parseWall(text)
  if (since === undefined) throw createRejection(5144, { detail: text })
  return order => isAfter(world, order.updated, since)
}

const respondWithOrders = (request: ApiRequest, world: World, rows: Order[]) => {
  const buildRow = (order: Order, number: number) => buildShownOrder(order, number, request, world, false)
  return respondPaged(request, world, { name: 'Orders', rows, row: buildRow, unpaged: fromZero })
}

/** Lists the orders of all persons, filtered by person, ID or change timestamp. */
export const listOrders: Handler = (request, world) => {
  const [person, id, after] = ['personId', 'id', 'updatedAfter'].map(name => request.query(name))
  if (!person && !id && !after) throw createRejection(5421)
  const isChanged = createChangeFilter(request, world)
  const rows = [...world.shop.orders.values()].filter(
    order =>
      (!person || order.personId === parseInteger(person)) &&
      (!id || order.id === parseInteger(id)) &&
      isChanged(order),
  )
  return respondWithOrders(request, world, rows)
}

/** Lists a person's orders from the live tables. */
export const listPersonOrders: Handler = (request, world) => {
  const person = requirePerson(request, world)
  const isChanged = hasFeature(world, 'personOrdersUpdatedAfter') ? createChangeFilter(request, world) : () => true
  return respondWithOrders(
    request,
    world,
    [...world.shop.orders.values()].filter(order => order.personId === person.id && isChanged(order)),
  )
}

/** Returns one order from the temporary table of web sales, as it was posted. Orders leave this table after some time. */
export const getPersonOrder: Handler = (request, world) => {
  const person = requirePerson(request, world)
  const order = world.shop.orders.get(parseInteger(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id || !order.inWebTable) throw createNoDataError()
  return respondOk(buildShownOrder(order, 1, request, world, true))
}

/** Returns an order or a return from the table of web sales. The guide doesn't mention returns here, but they have numbers and codes of this table. */
export const getOrderByNumber: Handler = (request, world) => {
  const number = (request.parameters[0] ?? '').toLowerCase()
  const { orders, returns } = world.shop
  const order = [...orders.values()].find(other => other.number.toLowerCase() === number)
  const record = [...returns.values()].find(other => other.number.toLowerCase() === number)
  const original = record && orders.get(record.orderId)
  if (record && original) return respondOk(buildReturn(record, original, world.shop))
  if (!order?.inWebTable) throw createNoDataError()
  return respondOk(buildShownOrder(order, 1, request, world, true))
}
