import type { Warning } from '../shapes/general.ts'
import type { Answer } from './exchange.ts'

/** What an answer said beside its data. */
export interface About {
  status: number
  requestId: string | undefined
  etag: string | undefined
  /** What the service warns of, of a write. */
  warnings: readonly Warning[]
  /** Whether this is the first answer again, of a write that was repeated. */
  replayed: boolean
}

const known = new WeakMap<object, About>()

/** What the answer said in which a record came; undefined for a record that came in a list, or from elsewhere. */
export const aboutAnswer = (record: object): About | undefined => known.get(record)

/** The data of an answer, of which the rest is remembered as long as somebody has it. */
export function dataOf({ status, header, json }: Answer) {
  const { data, meta } = json ?? {}
  if (typeof data === 'object' && data)
    known.set(data, {
      status,
      requestId: header('x-request-id') ?? undefined,
      etag: header('etag') ?? undefined,
      warnings: meta?.warnings ?? [],
      replayed: header('idempotent-replayed') === 'true',
    })
  return data
}

/** The ETag of a record as it was read, or written; or one that is given as it is. */
export function etagOf(record: object | string): string {
  const etag = typeof record === 'string' ? record : aboutAnswer(record)?.etag
  if (etag === undefined) throw new TypeError('This record did not come by itself, so it has no ETag.')
  return etag
}
