import assert from 'node:assert/strict'
import type { Caller } from './service.ts'

export interface ListedRecord {
  id: string
  firstname: string
}

export interface PagedList {
  records: ListedRecord[]
  ids: string[]
  asOf: string
  /** The `endCursor` of each page. */
  cursors: string[]
}

/** Fetches all pages of a list. `between` runs after each page except the last. Fails if a record is repeated or `asOf` changes. */
export async function paginate(
  caller: Pick<Caller, 'get'>,
  path: string,
  between?: (page: number) => Promise<unknown>,
): Promise<PagedList> {
  const records: ListedRecord[] = []
  const cursors: string[] = []
  let asOf = ''
  for (;;) {
    const cursor = cursors.at(-1)
    const { status, json } = await caller.get(
      cursor === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}after_cursor=${cursor}`,
    )
    assert.equal(status, 200, JSON.stringify(json))
    records.push(...json.data)
    asOf ||= json.meta.asOf
    assert.equal(json.meta.asOf, asOf, 'all pages of a list must have the same `asOf`')
    if (json.meta.endCursor !== null) cursors.push(json.meta.endCursor)
    if (!json.meta.hasNextPage) break
    await between?.(cursors.length)
  }
  const ids = records.map(record => record.id)
  assert.equal(new Set(ids).size, ids.length, 'no record may be repeated')
  return { records, ids, asOf, cursors }
}

/** Fetches the customers that changed since `asOf`. */
export const pollSince = (caller: Pick<Caller, 'get'>, asOf: string, limit = 100) =>
  paginate(caller, `/customers/search?limit=${limit}&updated_after=${asOf}`)

/** Builds customer rows for `upsertCustomers`. */
export const buildCustomers = (from: number, count: number, firstname = 'Ann') =>
  Array.from({ length: count }, (_, i) => ({ id: String(from + i).padStart(6, '0'), firstname }))

/** Adds to each row a change timestamp within the past two years, as a source would send it. */
export const withTimestamps = (rows: readonly object[]) =>
  rows.map(row => {
    const instant = new Date(Date.now() - Math.random() * 730 * 86_400_000)
    return { ...row, updateTimeStamp: instant.toISOString().slice(0, 19).replace('T', ' ') }
  })
