import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { EventRequest, PlatformEvent } from '../../port/events.ts'
import { findTopic, topics } from './topics.ts'

/**
 * Reads an event of Shopify. Only the body is signed, not the headers: the topic and the ID of the delivery can be false in a replayed
 * request. So an event only names a record, which is then read by its ID.
 */
export function readShopifyEvent({ body, headers, url, secrets }: EventRequest): PlatformEvent | 'ignored' | 'forged' {
  if (!isSigned(body, getHeader(headers, 'x-shopify-hmac-sha256'), secrets)) return 'forged'
  const { hostname } = new URL(url)
  if (hostname.endsWith('.myshopify.com') && getHeader(headers, 'x-shopify-shop-domain') !== hostname) return 'forged'
  const id = getHeader(headers, 'x-shopify-webhook-id')
  if (!/^[\w-]{1,100}$/.test(id)) return 'forged'
  const topic = findTopic(getHeader(headers, 'x-shopify-topic'))
  const payload = topic && parsePayload(body)
  if (!topic || !payload) return 'ignored'
  const { target, type } = topics[topic]
  if (topic === 'CUSTOMERS_MERGE') return readMerge(id, payload)
  const subjectId = toGlobalId(type, type === 'InventoryItem' ? payload.inventory_item_id : payload.id)
  if (subjectId === undefined) return 'ignored'
  if (target !== 'stock') return { id, target, subjectId }
  const locationId = toGlobalId('Location', payload.location_id)
  const available = Number(payload.available ?? Number.NaN)
  if (locationId === undefined) return 'ignored'
  return { id, target, subjectId, level: { locationId, available: Number.isInteger(available) ? available : null } }
}

function readMerge(id: string, payload: Payload): PlatformEvent | 'ignored' {
  const isCustomer = (value: unknown): value is string =>
    typeof value === 'string' && /^gid:\/\/shopify\/Customer\/\d{1,20}$/.test(value)
  const subjectId = payload.admin_graphql_api_customer_deleted_id
  const successorId = payload.admin_graphql_api_customer_kept_id
  if (payload.status !== 'completed' || !isCustomer(subjectId) || !isCustomer(successorId)) return 'ignored'
  return { id, target: 'ecommerce-customers', subjectId, successorId }
}

const getHeader = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** Compares the signature with the signature of each secret, in constant time. */
function isSigned(body: Buffer, signature: string, secrets: readonly string[]): boolean {
  const received = Buffer.from(signature, 'base64')
  const matches = secrets.map(secret => {
    const expected = createHmac('sha256', secret).update(body).digest()
    return timingSafeEqual(expected, received.length === expected.length ? received : Buffer.alloc(expected.length))
  })
  return matches.includes(true)
}

type Payload = Readonly<Record<string, unknown>>

/** Parses the members of a payload. IDs exceed 2^53, so numbers keep their digits. Returns undefined if it isn't a JSON object. */
function parsePayload(body: Buffer): Payload | undefined {
  try {
    const value: unknown = JSON.parse(
      body.toString(),
      (_key: string, member: unknown, context?: { source?: string }) =>
        typeof member === 'number' ? context?.source : member,
    )
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : undefined
  } catch {
    return
  }
}

const toGlobalId = (type: string, digits: unknown): string | undefined =>
  typeof digits === 'string' && /^\d{1,20}$/.test(digits) ? `gid://shopify/${type}/${digits}` : undefined
