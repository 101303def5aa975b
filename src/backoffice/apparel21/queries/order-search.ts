import { isAtLeast } from '../../../domain/values/release.ts'
import type { Client } from '../client/client.ts'
import { pagesOf } from '../client/pagination.ts'
import { type Release, since } from '../client/release.ts'
import { every, text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { isId } from './is-id.ts'

const roots = ['Order', 'Orders', 'ReturnOrder']

/** What may stand in a path without being taken for another one. */
const isNumber = (number: string) => /^[\w-]{1,50}$/.test(number)
const ordersIn = (root: Xml | undefined) => (root?.name === 'Orders' ? every(root, 'Order') : root ? [root] : [])

/** All orders of a person, as they are now. */
export const pagesOfOrders = (client: Client, personId: string, signal: AbortSignal) =>
  pagesOf(client, {
    endpoint: 'orders',
    path: ['Persons', personId, 'Orders'],
    roots: ['Orders'],
    record: 'Order',
    signal,
    keyOf: order => text(order, 'Id') ?? '',
  })

/** The same, one by one. Somebody waits for them: all of the pages have the time of one call. */
async function* ordersOf(client: Client, personId: string): AsyncGenerator<Xml> {
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  for await (const page of pagesOfOrders(client, personId, signal)) yield* page
}

async function first(orders: AsyncIterable<Xml>, is: (order: Xml) => boolean) {
  for await (const order of orders) if (is(order)) return order
  return
}

/**
 * The order, or the return, with a number, as it was posted: from the table of web sales, which forgets. With `personId` also from all
 * orders of that person.
 */
export async function orderNumbered(client: Client, number: string, personId?: string): Promise<Xml | undefined> {
  // Numbers are compared here whatever their case.
  const is = (order: Xml) => text(order, 'OrderNumber')?.toLowerCase() === number.toLowerCase()
  if (isNumber(number)) {
    const root = await client.document({ endpoint: 'orders', path: ['OrderNumbers', number], roots })
    const found = ordersIn(root).find(is)
    if (found) return found
  }
  return personId === undefined ? undefined : first(ordersOf(client, personId), is)
}

/** An order by its identifier, as it is now; without `personId` only where the release can find it. */
export async function orderById(
  client: Client,
  release: Release,
  id: string,
  personId?: string,
): Promise<Xml | undefined> {
  if (!isId(id)) return
  const is = (order: Xml) => text(order, 'Id') === id
  if (isAtLeast((await release.read()) ?? '', since.ordersOfEveryone)) {
    const root = await client.document({ endpoint: 'orders', path: ['Orders'], query: { id }, roots })
    return ordersIn(root).find(is)
  }
  return personId === undefined ? undefined : first(ordersOf(client, personId), is)
}
