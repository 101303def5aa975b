import { isAtLeast } from '../../../domain/values/release.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { isId } from './is-id.ts'

const roots = ['Order', 'Orders', 'ReturnOrder']

/** What may stand in a path without being taken for another one. */
const isNumber = (number: string) => /^[\w-]{1,50}$/.test(number)
const getOrders = (root: Xml | undefined) =>
  root?.name === 'Orders' ? findElements(root, 'Order') : root ? [root] : []

/** All orders of a person, as they are now. */
export const readOrderPages = (client: Client, personId: string, signal: AbortSignal) =>
  readPages(client, {
    endpoint: 'orders',
    path: ['Persons', personId, 'Orders'],
    roots: ['Orders'],
    record: 'Order',
    signal,
    getKey: order => readText(order, 'Id') ?? '',
  })

/** The same, one by one. Somebody waits for them: all of the pages have the time of one call. */
async function* readOrders(client: Client, personId: string): AsyncGenerator<Xml> {
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  for await (const page of readOrderPages(client, personId, signal)) yield* page
}

async function findFirst(orders: AsyncIterable<Xml>, is: (order: Xml) => boolean) {
  for await (const order of orders) if (is(order)) return order
  return
}

/**
 * The order, or the return, with a number, as it was posted: from the table of web sales, which forgets. With `personId` also from all
 * orders of that person.
 */
export async function fetchOrderByNumber(client: Client, number: string, personId?: string): Promise<Xml | undefined> {
  // Numbers are compared here whatever their case.
  const is = (order: Xml) => readText(order, 'OrderNumber')?.toLowerCase() === number.toLowerCase()
  if (isNumber(number)) {
    const root = await client.document({ endpoint: 'orders', path: ['OrderNumbers', number], roots })
    const found = getOrders(root).find(is)
    if (found) return found
  }
  return personId === undefined ? undefined : findFirst(readOrders(client, personId), is)
}

/** An order by its identifier, as it is now; without `personId` only where the release can find it. */
export async function fetchOrderById(
  client: Client,
  release: ReleaseReader,
  id: string,
  personId?: string,
): Promise<Xml | undefined> {
  if (!isId(id)) return
  const is = (order: Xml) => readText(order, 'Id') === id
  if (isAtLeast((await release.read()) ?? '', featureReleases.ordersOfEveryone)) {
    const root = await client.document({ endpoint: 'orders', path: ['Orders'], query: { id }, roots })
    return getOrders(root).find(is)
  }
  return personId === undefined ? undefined : findFirst(readOrders(client, personId), is)
}
