import type { Warning } from '../shapes/general.ts'
import type { HttpResponse } from './http.ts'

/** Metadata of a response. */
export interface ResponseMeta {
  status: number
  requestId: string | undefined
  etag: string | undefined
  /** Warnings of a write. */
  warnings: readonly Warning[]
  /** True if this is the stored response of an earlier attempt (`Idempotent-Replayed`). */
  replayed: boolean
}

const metaByRecord = new WeakMap<object, ResponseMeta>()

/** Returns the metadata of the response that contained a record, or undefined for records of a list. */
export const responseMeta = (record: object): ResponseMeta | undefined => metaByRecord.get(record)

/** Returns the data of a response, and remembers its metadata as long as the record is referenced. */
export function readData({ status, header, json }: HttpResponse) {
  const { data, meta } = json ?? {}
  if (typeof data === 'object' && data)
    metaByRecord.set(data, {
      status,
      requestId: header('x-request-id') ?? undefined,
      etag: header('etag') ?? undefined,
      warnings: meta?.warnings ?? [],
      replayed: header('idempotent-replayed') === 'true',
    })
  return data
}

/** Returns the ETag of a record that was read or written, or the ETag itself. Throws if the record has none. */
export function getEtag(record: object | string): string {
  const etag = typeof record === 'string' ? record : responseMeta(record)?.etag
  if (etag === undefined)
    throw new TypeError('This record has no ETag, because it came in a list. Read it with get() first.')
  return etag
}
