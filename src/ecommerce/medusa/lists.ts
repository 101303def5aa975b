import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { MedusaClient, Query } from './client.ts'

/** A list of the Admin API. */
export interface MedusaList {
  path: string
  /** The field of the response that has the records. */
  field: string
  /** The fields of each record, as the API expects them. */
  fields: string
}

type Page<T> = { count: number; offset: number } & Record<string, T[] | number | undefined>

const pageSize = 100
/** Steps back in one read. More of them mean that the list never stops moving. */
const maxStepsBack = 100

/**
 * Yields all records of a list once, in the order of their IDs. Pages have offsets, so that a record that is deleted during the read moves all
 * later ones forward. Each page therefore repeats the last record of the page before; if it doesn't, the read steps back.
 */
export async function* readList<T extends { id: string }>(
  client: MedusaClient,
  { path, field, fields }: MedusaList,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const seen = new Set<string>()
  let stepsBack = 0
  for (let offset = 0; ; ) {
    const page = await client.get<Page<T>>(path, { ...query, fields, order: 'id', limit: pageSize, offset }, signal)
    const records = page[field]
    if (!Array.isArray(records) || page.offset !== offset)
      throw new PlatformFailure('invalid', `The response has no page of ${field}.`)
    const unseen = records.filter(({ id }) => !seen.has(id))
    if (offset > 0 && unseen.length === records.length) {
      if (++stepsBack > maxStepsBack) throw new PlatformFailure('unavailable', `The list of ${field} keeps moving.`)
      offset = Math.max(0, offset - pageSize)
      continue
    }
    for (const record of unseen) {
      seen.add(record.id)
      yield record
    }
    if (offset + records.length >= page.count) {
      if (seen.size >= page.count) return
      throw new PlatformFailure('unavailable', `The list of ${field} changed during the read, or a page was repeated.`)
    }
    if (records.length < 2) throw new PlatformFailure('invalid', `The platform returned too few ${field}.`)
    offset += records.length - 1
  }
}
