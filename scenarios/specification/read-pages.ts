import assert from 'node:assert/strict'
import { type Api, getData } from './api.ts'
import { cursor } from './names.ts'

// biome-ignore lint/suspicious/noExplicitAny: a statement reads what it expects
type ApiRecord = any

/** Returns the records of a list, up to a maximum number of pages. */
export async function readPages(
  api: Api,
  path: string,
  query: Readonly<Record<string, string>>,
  pages = 100,
): Promise<ApiRecord[]> {
  const records: ApiRecord[] = []
  let after: string | undefined
  for (let page = 0; page < pages; page++) {
    const response = await api.get(path, { ...query, ...(after !== undefined && { [cursor.parameter]: after }) })
    const pageRecords = getData(response)
    assert.ok(Array.isArray(pageRecords) && pageRecords.length <= 100, `a page holds ${pageRecords.length}`)
    records.push(...pageRecords)
    const { hasNextPage, endCursor } = response.body.meta
    if (!hasNextPage) break
    after = endCursor
  }
  return records
}

/** Asserts that pages by cursor contain each record once, with at most 100 records per page. */
export async function assertPaginated(api: Api, path: string, query: Readonly<Record<string, string>> = {}) {
  const first = await readPages(api, path, { ...query, [cursor.limit]: '3' }, 3)
  const ids = first.map(({ id }) => id)
  assert.ok(ids.length > 3, 'the list has only one page')
  assert.equal(new Set(ids).size, ids.length, 'a record is on two pages')
  const complete = getData(await api.get(path, query)).map(({ id }: { id: string }) => id)
  assert.deepEqual(ids, complete.slice(0, ids.length), 'the pages differ from the list')
}

/** Asserts that a page holds 100 records and never more. */
export async function assertPageLimit(api: Api, path: string) {
  assert.equal(getData(await api.get(path, {})).length, 100)
  const { status, body } = await api.get(path, { [cursor.limit]: '1000' })
  assert.ok(status >= 400 || body.data.length <= 100, 'a page has more than 100 records')
}
