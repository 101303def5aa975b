import { isAtLeast } from '../../../domain/values/release.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { isId } from '../client/request.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

const roots = ['Order', 'Orders', 'ReturnOrder']

/** True if a number is safe in a path. */
const isNumber = (number: string) => /^[\w-]{1,50}$/.test(number)
const getOrders = (root: Xml | undefined) =>
  root?.name === 'Orders' ? findElements(root, 'Order') : root ? [root] : []

/** Reads all orders of a person in their current state, page by page. */
export const readOrderPages = (client: Client, personId: string, signal: AbortSignal) =>
  readPages(client, {
    endpoint: 'orders',
    path: ['Persons', personId, 'Orders'],
    roots: ['Orders'],
    record: 'Order',
    signal,
    getKey: order => readText(order, 'Id') ?? '',
  })

/** Reads the orders of a person one by one, within the deadline of a single call, because a caller is waiting. */
async function* readOrders(client: Client, personId: string): AsyncGenerator<Xml> {
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  for await (const page of readOrderPages(client, personId, signal)) yield* page
}

async function findFirst(orders: AsyncIterable<Xml>, isMatch: (order: Xml) => boolean) {
  for await (const order of orders) if (isMatch(order)) return order
  return
}

/** The back office's numbers are not case-sensitive. */
const hasNumber = (order: Xml, number: string) => readText(order, 'OrderNumber')?.toLowerCase() === number.toLowerCase()
const isReturn = (order: Xml) => order.name === 'ReturnOrder' || readText(order, 'OrigOrderNum') !== null

/**
 * Fetches the orders and returns with a number, as they were posted, from the back office's table of web sales. The table is purged after a
 * while.
 */
async function fetchWebSales(client: Client, number: string): Promise<Xml[]> {
  if (!isNumber(number)) return []
  const root = await client.document({ endpoint: 'orders', path: ['OrderNumbers', number], roots })
  return getOrders(root).filter(order => hasNumber(order, number))
}

/**
 * Returns the order with a number. With `personId`, all orders of that person are searched too. Returns undefined if it doesn't exist.
 */
export async function fetchOrderByNumber(client: Client, number: string, personId?: string): Promise<Xml | undefined> {
  const sale = (await fetchWebSales(client, number)).find(order => !isReturn(order))
  if (sale || personId === undefined) return sale
  return findFirst(readOrders(client, personId), order => hasNumber(order, number) && !isReturn(order))
}

/** Returns the return with a number. No order can have this number. Returns undefined if it doesn't exist. */
export const fetchReturnByNumber = async (client: Client, number: string): Promise<Xml | undefined> =>
  (await fetchWebSales(client, number))[0]

/** Returns the current order with an identifier. Without `personId`, older releases can't find it and undefined is returned. */
export async function fetchOrderById(
  client: Client,
  release: ReleaseReader,
  id: string,
  personId?: string,
): Promise<Xml | undefined> {
  if (!isId(id)) return
  const isMatch = (order: Xml) => readText(order, 'Id') === id
  if (isAtLeast((await release.read()) ?? '', featureReleases.ordersOfEveryone)) {
    const root = await client.document({ endpoint: 'orders', path: ['Orders'], query: { id }, roots })
    return getOrders(root).find(isMatch)
  }
  return personId === undefined ? undefined : findFirst(readOrders(client, personId), isMatch)
}
