import assert from 'node:assert/strict'
import { raw, sql } from '../../../src/database/db.ts'
import { changeKinds, type Kind } from '../../../src/domain/changes.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { sources } from '../../../src/store/change-feed/sources.ts'
import type { Caller, TestApi } from '../../support/service.ts'

/** A change as the API returns it. */
export interface ChangeItem {
  kind: Kind
  id: string
  action: 'changed' | 'removed'
  changedAt: string
  path?: string
  record?: object
}

/** A client that keeps a copy of the records by reading the change feed. */
export interface Follower {
  caller: Pick<Caller, 'get'>
  /** The query parameters without the cursor, such as `limit=3&kinds=customer`. */
  query: string
  cursor: string | undefined
  /** The newest change timestamp of each record, by type and ID. */
  copy: Map<string, string>
}

export const createFollower = (caller: Follower['caller'], query: string): Follower => ({
  caller,
  query,
  cursor: undefined,
  copy: new Map(),
})

/** Applies a change to a copy. A later change of a record has a later timestamp. */
export function applyChange({ copy }: Pick<Follower, 'copy'>, { kind, id, action, changedAt }: ChangeItem) {
  const name = `${kind} ${id}`
  assert.ok(changedAt >= (copy.get(name) ?? ''), `${name} goes back in time`)
  if (action === 'changed') copy.set(name, changedAt)
  else copy.delete(name)
}

/** Reads one page. Starts again if the cursor has expired. */
export async function readPage(
  reader: Follower,
): Promise<{ changes: ChangeItem[]; hasMore: boolean; expired: boolean }> {
  const after = reader.cursor === undefined ? '' : `&after_cursor=${reader.cursor}`
  const { status, json } = await reader.caller.get(`/changes?${reader.query}${after}`)
  if (status === 410) {
    assert.equal(json.code, 'cursor_expired')
    Object.assign(reader, { cursor: undefined, copy: new Map() })
    return { changes: [], hasMore: true, expired: true }
  }
  assert.equal(status, 200, JSON.stringify(json))
  for (const change of json.data) applyChange(reader, change)
  reader.cursor = json.meta.endCursor
  return { changes: json.data, hasMore: json.meta.hasNextPage, expired: false }
}

/** Reads all remaining pages. Returns their changes. */
export async function readAll(reader: Follower): Promise<ChangeItem[]> {
  const all: ChangeItem[] = []
  for (;;) {
    const { changes, hasMore } = await readPage(reader)
    all.push(...changes)
    if (!hasMore) return all
  }
}

/** Returns the expected copy: the change timestamps of all current records of these types, by type and ID. */
export async function readExpectedCopy(
  { db }: Pick<TestApi, 'db'>,
  service: Service,
  kinds: readonly Kind[] = changeKinds,
): Promise<Map<string, string>> {
  const timestamps = new Map<string, string>()
  for (const kind of kinds) {
    const { table, key, id = key } = sources[kind]
    const rows = await db.rows<{ id: string; at: string }>(sql`
      select ${id} as id, to_char(changed_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ${raw(table)} where service_id = ${service.id}`)
    for (const row of rows) timestamps.set(`${kind} ${row.id}`, row.at)
  }
  return timestamps
}

/** Returns a copy as an object with sorted keys, so that two copies can be compared. */
export const toSortedObject = (copy: ReadonlyMap<string, string>) => Object.fromEntries([...copy].sort())
