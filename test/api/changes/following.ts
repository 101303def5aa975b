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

/** A client that keeps a copy by following changes. */
export interface Follower {
  caller: Pick<Caller, 'get'>
  /** Parameters, the cursor apart: `limit=3&kinds=customer`. */
  query: string
  cursor: string | undefined
  /** The newest change timestamp of each record, by type and ID. */
  copy: Map<string, string>
}

export const follower = (caller: Follower['caller'], query: string): Follower => ({
  caller,
  query,
  cursor: undefined,
  copy: new Map(),
})

/** Applies a change to a copy. A later change of a record has a later timestamp. */
export function take({ copy }: Pick<Follower, 'copy'>, { kind, id, action, changedAt }: ChangeItem) {
  const name = `${kind} ${id}`
  assert.ok(changedAt >= (copy.get(name) ?? ''), `${name} goes back in time`)
  if (action === 'changed') copy.set(name, changedAt)
  else copy.delete(name)
}

/** Reads one page. Starts again if the cursor has expired. */
export async function readOn(reader: Follower): Promise<{ changes: ChangeItem[]; hasMore: boolean; expired: boolean }> {
  const after = reader.cursor === undefined ? '' : `&after_cursor=${reader.cursor}`
  const { status, json } = await reader.caller.get(`/changes?${reader.query}${after}`)
  if (status === 410) {
    assert.equal(json.code, 'cursor_expired')
    Object.assign(reader, { cursor: undefined, copy: new Map() })
    return { changes: [], hasMore: true, expired: true }
  }
  assert.equal(status, 200, JSON.stringify(json))
  for (const change of json.data) take(reader, change)
  reader.cursor = json.meta.endCursor
  return { changes: json.data, hasMore: json.meta.hasNextPage, expired: false }
}

/** Reads to the end. Returns all changes. */
export async function readAll(reader: Follower): Promise<ChangeItem[]> {
  const all: ChangeItem[] = []
  for (;;) {
    const { changes, hasMore } = await readOn(reader)
    all.push(...changes)
    if (!hasMore) return all
  }
}

/** Returns the current records of some types with their change timestamps: the expected copy. */
export async function readExpectedCopy(
  { db }: Pick<TestApi, 'db'>,
  service: Service,
  of: readonly Kind[] = changeKinds,
): Promise<Map<string, string>> {
  const timestamps = new Map<string, string>()
  for (const kind of of) {
    const { table, key, id = key } = sources[kind]
    const rows = await db.rows<{ id: string; at: string }>(sql`
      select ${id} as id, to_char(changed_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ${raw(table)} where service_id = ${service.id}`)
    for (const row of rows) timestamps.set(`${kind} ${row.id}`, row.at)
  }
  return timestamps
}

/** A copy, or what it should be, in one order. */
export const sorted = (copy: ReadonlyMap<string, string>) => Object.fromEntries([...copy].sort())
