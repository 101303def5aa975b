import { ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { fromZero, paged } from '../http/paging.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { readWall } from '../shop/clock.ts'
import type { Order } from '../shop/sales.ts'
import { has, isAfter, type World } from '../world/world.ts'
import { type Element, fields } from '../xml/element.ts'
import { ofVersion2 } from './order-post.ts'
import { orderElement } from './order-xml.ts'
import { personOf } from './persons.ts'
import { returnElement } from './returns.ts'

/** Elements that later releases and payload versions add. */
function extrasOf(order: Order, { version }: ApiRequest, world: World): Element[] {
  return [
    ...(has(world, 'partnerOrderId') ? fields({ PartnerOrderId: order.partnerOrderId }) : []),
    ...(has(world, 'review') ? fields({ NeedReview: order.needReview, ReviewNotes: order.reviewNotes }) : []),
    ...(version >= 2 && order.membershipNumber ? fields({ PointsPartner: order.membershipNumber }) : []),
  ]
}

function shownAs(order: Order, number: number, request: ApiRequest, world: World, asPosted: boolean): Element {
  const lineWarehouse = has(world, 'orderLineWarehouse')
  const element = orderElement(order, number, world.shop, { asPosted, lineWarehouse }, extrasOf(order, request, world))
  if (request.version >= 2 || !Array.isArray(element.content)) return element
  return { ...element, content: element.content.filter((child: Element) => !ofVersion2.has(child.name)) }
}

function changedSince(request: ApiRequest, world: World): (order: Order) => boolean {
  const text = request.query('updatedAfter')
  if (!text) return () => true
  const since = readWall(text)
  if (since === undefined) throw createRejection(5144, { detail: text })
  return order => isAfter(world, order.updated, since)
}

const list = (request: ApiRequest, world: World, rows: Order[]) => {
  const row = (order: Order, number: number) => shownAs(order, number, request, world, false)
  return paged(request, world, { name: 'Orders', rows, row, unpaged: fromZero })
}

/** Orders of all persons, filtered by person, ID or change timestamp. */
export const allOrders: Handler = (request, world) => {
  const [person, id, after] = ['personId', 'id', 'updatedAfter'].map(name => request.query(name))
  if (!person && !id && !after) throw createRejection(5421)
  const changed = changedSince(request, world)
  const rows = [...world.shop.orders.values()].filter(
    order => (!person || order.personId === whole(person)) && (!id || order.id === whole(id)) && changed(order),
  )
  return list(request, world, rows)
}

/** A person's orders, from the live tables. */
export const ordersOfPerson: Handler = (request, world) => {
  const person = personOf(request, world)
  const changed = has(world, 'personOrdersUpdatedAfter') ? changedSince(request, world) : () => true
  return list(
    request,
    world,
    [...world.shop.orders.values()].filter(order => order.personId === person.id && changed(order)),
  )
}

/** One order from the temporary table of web sales, as it was posted. Orders leave this table after some time. */
export const orderOfPerson: Handler = (request, world) => {
  const person = personOf(request, world)
  const order = world.shop.orders.get(whole(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id || !order.inWebTable) throw nothing()
  return ok(shownAs(order, 1, request, world, true))
}

/** An order or a return from the table of web sales. That returns can be looked up is inferred: they have numbers and codes of this table. */
export const orderByNumber: Handler = (request, world) => {
  const number = (request.parameters[0] ?? '').toLowerCase()
  const { orders, returns } = world.shop
  const order = [...orders.values()].find(other => other.number.toLowerCase() === number)
  const record = [...returns.values()].find(other => other.number.toLowerCase() === number)
  const original = record && orders.get(record.orderId)
  if (record && original) return ok(returnElement(record, original, world.shop))
  if (!order?.inWebTable) throw nothing()
  return ok(shownAs(order, 1, request, world, true))
}
