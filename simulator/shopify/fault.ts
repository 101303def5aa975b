import type { FaultConditions } from '../faults/fault.ts'

/** The kinds of faults. A fault's `path` is an operation's name, such as `/Variants`, `/oauth`, `/bulk-file` or `/events`. */
export const shopifyFaultKinds = {
  latency: 'responds `seconds` later',
  'lost-response': 'the effect happens, then the connection is reset without a response',
  'reset-before': 'the connection is reset before anything happens',
  status: '`status` (default 502) without JSON',
  'too-many-requests': '429 with `Retry-After: 1`',
  throttled: 'THROTTLED, although the bucket has enough points',
  'token-rejected': '401, as if the token were revoked',
  'page-repeated': 'the first page, whatever cursor is sent',
  'page-shuffled': 'the nodes of a page in another order',
  'foreign-cursor': 'an end cursor that belongs to another list',
  'filter-ignored': 'the search is ignored without a warning',
  'bulk-failed': 'a bulk operation ends as FAILED',
  'bulk-half': 'the file of a bulk operation ends in the middle',
  'bulk-expired': 'the URL of the result is no longer valid',
  'event-lost': 'an event is never sent',
  'event-repeated': 'an event is sent twice at the same time',
} as const satisfies Record<string, string>

export type ShopifyFaultKind = keyof typeof shopifyFaultKinds

export interface ShopifyFault extends FaultConditions {
  kind: ShopifyFaultKind
  seconds?: number
  status?: number
}

/** Parses a fault. Throws a TypeError that explains what is invalid. */
export function readShopifyFault(value: unknown): ShopifyFault {
  if (typeof value !== 'object' || value === null) throw new TypeError('A fault must be an object')
  const { kind, path, times, probability, seconds, status, ...unknown } = value as Record<string, unknown>
  if (typeof kind !== 'string' || !Object.hasOwn(shopifyFaultKinds, kind))
    throw new TypeError(`kind must be one of ${Object.keys(shopifyFaultKinds).join(', ')}`)
  for (const name of Object.keys(unknown)) throw new TypeError(`A fault has no ${name}`)
  if (path !== undefined && typeof path !== 'string') throw new TypeError('path must be a string')
  for (const [name, number] of Object.entries({ times, probability, seconds, status }))
    if (number !== undefined && !(typeof number === 'number' && Number.isFinite(number)))
      throw new TypeError(`${name} must be a number`)
  return { ...(value as ShopifyFault) }
}
