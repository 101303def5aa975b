import type { Random } from '../shop/random.ts'
import type { ListConditions } from './connection.ts'
import type { ShopifySettings } from './settings.ts'
import type { Shop } from './state.ts'

/** The shop and its environment, which requests and the merchant's changes read and change. */
export interface ShopifyWorld {
  readonly settings: ShopifySettings
  readonly shop: Shop
  readonly random: Random
  /** The address that clients use: the origin of bulk files. */
  readonly origin: string
  now(): number
  /** Queues an event for the subscriptions of its topic. */
  notify(topic: string, payload: object): void
}

/** The part of the context that each resolver receives. */
export interface RequestContext {
  world: ShopifyWorld
  /** The version that serves the request. */
  version: string
  lists: ListConditions
  /** The kinds of faults that apply to the request. */
  faults: ReadonlySet<string>
  /** Returns the reason why a query can't be a bulk operation, or undefined. */
  checkBulk(query: string): string | undefined
  runBulk(query: string): { lines: string[]; roots: number } | { error: string }
}

export const toInstant = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
export const toGid = (type: string, id: number | string) => `gid://shopify/${type}/${id}`

/** Returns the number of a global ID. Returns NaN if the ID has another type. */
export function fromGid(type: string, gid: string): number {
  const match = new RegExp(`^gid://shopify/${type}/(\\d+)`).exec(gid)
  return match ? Number(match[1]) : Number.NaN
}
