import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Service } from '../settings.ts'
import type { Position } from '../store/lists/page.ts'

/** What a cursor carries: the walk's moment, and where its last page ended (null after an empty page). */
export interface Cursor {
  asOf: string
  after: Position | null
}

/** The walk that a cursor belongs to. */
export interface Walk {
  service: Service
  list: string
  filters: object
}

const macLength = 16

/** An opaque, authenticated text, bound to the walk's service, list and filters (contract 1.4). */
export function writeCursor(key: Buffer, walk: Walk, { asOf, after }: Cursor): string {
  const payload = Buffer.from(JSON.stringify(after ? [asOf, ...after] : [asOf]))
  return Buffer.concat([mac(key, walk, payload), payload]).toString('base64url')
}

/** The cursor, or undefined where it was changed or belongs to another walk. */
export function readCursor(key: Buffer, walk: Walk, text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Decoding is lenient: only the one text that we would write stands for these bytes.
  if (bytes.length <= macLength || bytes.toString('base64url') !== text) return
  const payload = bytes.subarray(macLength)
  if (!timingSafeEqual(bytes.subarray(0, macLength), mac(key, walk, payload))) return
  const [asOf, order, id] = JSON.parse(payload.toString()) as [string, string?, string?]
  return { asOf, after: order === undefined || id === undefined ? null : [order, id] }
}

function mac(key: Buffer, { service, list, filters }: Walk, payload: Buffer) {
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha256', key)
    .update(JSON.stringify([service.id, list, sorted]))
    .update(payload)
    .digest()
    .subarray(0, macLength)
}
