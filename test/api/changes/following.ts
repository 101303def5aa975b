import assert from 'node:assert/strict'
import { raw, sql } from '../../../src/database/db.ts'
import { type Kind, kinds } from '../../../src/domain/changes.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { sources } from '../../../src/store/change-feed/sources.ts'
import type { Caller, TestService } from '../../support/service.ts'

/** A change as it is told. */
export interface Told {
  kind: Kind
  id: string
  action: 'changed' | 'removed'
  changedAt: string
  path?: string
  record?: object
}

/** Who keeps a copy by following changes. */
export interface Follower {
  shop: Pick<Caller, 'get'>
  /** Parameters, the cursor apart: `limit=3&kinds=customer`. */
  asking: string
  cursor: string | undefined
  /** What each record, by kind and id, was last told to have changed at. */
  copy: Map<string, string>
}

export const follower = (shop: Follower['shop'], asking: string): Follower => ({
  shop,
  asking,
  cursor: undefined,
  copy: new Map(),
})

/** Takes a change into a copy. What comes later of a record is later. */
export function take({ copy }: Pick<Follower, 'copy'>, { kind, id, action, changedAt }: Told) {
  const name = `${kind} ${id}`
  assert.ok(changedAt >= (copy.get(name) ?? ''), `${name} was told of as it was later`)
  if (action === 'changed') copy.set(name, changedAt)
  else copy.delete(name)
}

/** Takes one answer; whether more follows. One whose cursor has expired begins anew. */
export async function readOn(one: Follower): Promise<{ changes: Told[]; hasMore: boolean; expired: boolean }> {
  const after = one.cursor === undefined ? '' : `&after_cursor=${one.cursor}`
  const { status, json } = await one.shop.get(`/changes?${one.asking}${after}`)
  if (status === 410) {
    assert.equal(json.code, 'cursor_expired')
    Object.assign(one, { cursor: undefined, copy: new Map() })
    return { changes: [], hasMore: true, expired: true }
  }
  assert.equal(status, 200, JSON.stringify(json))
  for (const change of json.data) take(one, change)
  one.cursor = json.meta.endCursor
  return { changes: json.data, hasMore: json.meta.hasNextPage, expired: false }
}

/** Reads to the end; all that was told on the way. */
export async function readAll(one: Follower): Promise<Told[]> {
  const all: Told[] = []
  for (;;) {
    const { changes, hasMore } = await readOn(one)
    all.push(...changes)
    if (!hasMore) return all
  }
}

/** What is there of some kinds, and since when: what a copy should be. */
export async function standing(
  { db }: Pick<TestService, 'db'>,
  service: Service,
  of: readonly Kind[] = kinds,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const kind of of) {
    const { table, key, id = key } = sources[kind]
    const rows = await db.rows<{ id: string; at: string }>(sql`
      select ${id} as id, to_char(changed_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ${raw(table)} where service_id = ${service.id}`)
    for (const row of rows) found.set(`${kind} ${row.id}`, row.at)
  }
  return found
}

/** A copy, or what it should be, in one order. */
export const sorted = (copy: ReadonlyMap<string, string>) => Object.fromEntries([...copy].sort())
