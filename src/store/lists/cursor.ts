import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { PageRequest } from './page.ts'

/** The scope that the cursors of a paginated scan are bound to: a cursor is rejected in any other scope. */
export interface CursorScope {
  service: Service
  /** Path of the list. */
  list: string
  filters: object
  /** Key of the MAC. */
  key: Buffer
}

/** Content of a list cursor: the `asOf` of the scan, the LSN that contains all of it, and the end of the last page. */
type CursorPosition = Pick<PageRequest, 'after' | 'position'> & { asOf: string }

/**
 * Index of each field in the array of a list cursor. Two releases read each other's cursors during a rolling upgrade, and a cursor never
 * expires: never change these numbers.
 */
export const cursorFields = { asOf: 0, order: 1, key: 2 } as const

const macLength = 16

/** Returns the cursor of the end of a page. */
export function writeCursor(scope: CursorScope, { asOf, position, after }: CursorPosition): string {
  const fields: string[] = []
  fields[cursorFields.asOf] = asOf
  if (after) [fields[cursorFields.order], fields[cursorFields.key]] = after
  return signCursor(scope, fields, position)
}

/** Returns the start of the next page, or undefined if the cursor was changed or belongs to another scope. */
export function readCursor(scope: CursorScope, cursor: string): CursorPosition | undefined {
  const content = verifyContent(scope, cursor)
  if (!content) return
  const fields = content.at as [string, string?, string?]
  const { [cursorFields.asOf]: asOf, [cursorFields.order]: order, [cursorFields.key]: key } = fields
  return {
    asOf,
    position: content.position,
    ...(order !== undefined && key !== undefined && { after: [order, key] as const }),
  }
}

/** Returns an opaque, authenticated string of a JSON value, bound to the scope. */
export function signCursor(scope: CursorScope, at: readonly unknown[], position?: string): string {
  const { restoredAt } = scope.service
  const isBare = restoredAt === undefined && position === undefined
  const payload = Buffer.from(JSON.stringify(isBare ? at : { at, restoredAt, position }))
  return Buffer.concat([computeMac(scope, payload), payload]).toString('base64url')
}

/** Returns the value of `signCursor`, or undefined if the cursor was changed or belongs to another scope. */
export const verifyCursor = <Value>(scope: CursorScope, cursor: string) =>
  verifyContent(scope, cursor)?.at as Value | undefined

function verifyContent(scope: CursorScope, cursor: string): Content | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding is lenient: accept only the one string that we would write for these bytes.
  if (bytes.length <= macLength || bytes.toString('base64url') !== cursor) return
  const payload = bytes.subarray(macLength)
  if (!timingSafeEqual(bytes.subarray(0, macLength), computeMac(scope, payload))) return
  return parseContent(payload)
}

/** True if a verified cursor was written before the service was restored from a backup, or before its records moved within their lists. */
export const isBeforeRestore = ({ restoredAt }: Service, cursor: string) =>
  parseContent(Buffer.from(cursor, 'base64url').subarray(macLength)).restoredAt !== restoredAt

interface Content {
  at: unknown
  /** See `Service`. */
  restoredAt?: string
  /** LSN. */
  position?: string
}

function parseContent(payload: Buffer): Content {
  const content = JSON.parse(payload.toString())
  return Array.isArray(content) ? { at: content } : content
}

function computeMac({ service, list, filters, key }: CursorScope, payload: Buffer) {
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha256', key)
    .update(JSON.stringify([service.id, list, sorted]))
    .update(payload)
    .digest()
    .subarray(0, macLength)
}
