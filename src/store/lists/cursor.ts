import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { PageRequest } from './page.ts'

/** A walk through a list: what its cursors are bound to (contract 1.4). */
export interface CursorScope {
  service: Service
  /** The list's path; a cursor of one list is none of another. */
  list: string
  /** The filters as read. */
  filters: object
  /** What cursors are authenticated with. */
  key: Buffer
}

/** What a cursor carries: the walk's moment, where in the primary's log all of it is, and where its last page ended. */
type CursorPosition = Pick<PageRequest, 'after' | 'position'> & { asOf: string }

const macLength = 16

/** Where a page of the walk ended, as a cursor. */
export const writeCursor = (walk: CursorScope, { asOf, position, after }: CursorPosition) =>
  signCursor(walk, after ? [asOf, ...after] : [asOf], position)

/** Where the next page begins; undefined where the cursor was changed or belongs to another walk. */
export function readCursor(walk: CursorScope, text: string): CursorPosition | undefined {
  const content = verifyContent(walk, text)
  if (!content) return
  const [asOf, order, id] = content.at as [string, string?, string?]
  return {
    asOf,
    position: content.position,
    ...(order !== undefined && id !== undefined && { after: [order, id] as const }),
  }
}

/** An opaque, authenticated text of a value that JSON has, bound to the walk's service, list and filters. */
export function signCursor(walk: CursorScope, at: readonly unknown[], position?: string): string {
  const { restoredAt } = walk.service
  const isBare = restoredAt === undefined && position === undefined
  const payload = Buffer.from(JSON.stringify(isBare ? at : { at, restoredAt, position }))
  return Buffer.concat([mac(walk, payload), payload]).toString('base64url')
}

/** The value of `signed`; undefined where the text was changed or belongs to another walk. */
export const verifyCursor = <Value>(walk: CursorScope, text: string) => verifyContent(walk, text)?.at as Value | undefined

function verifyContent(walk: CursorScope, text: string): Content | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Decoding is lenient: only the one text that we would write stands for these bytes.
  if (bytes.length <= macLength || bytes.toString('base64url') !== text) return
  const payload = bytes.subarray(macLength)
  if (!timingSafeEqual(bytes.subarray(0, macLength), mac(walk, payload))) return
  return parseContent(payload)
}

/** Whether a cursor of this service is of before it was restored from a backup: it may have told what was lost. */
export const isBeforeRestore = ({ restoredAt }: Service, text: string) =>
  parseContent(Buffer.from(text, 'base64url').subarray(macLength)).restoredAt !== restoredAt

interface Content {
  at: unknown
  /** Of the service, where it was restored from a backup. */
  restoredAt?: string
  position?: string
}

function parseContent(payload: Buffer): Content {
  const content = JSON.parse(payload.toString())
  return Array.isArray(content) ? { at: content } : content
}

function mac({ service, list, filters, key }: CursorScope, payload: Buffer) {
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha256', key)
    .update(JSON.stringify([service.id, list, sorted]))
    .update(payload)
    .digest()
    .subarray(0, macLength)
}
