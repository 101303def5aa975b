import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { changeKinds } from '../../../src/domain/changes.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { purgeOldTombstones } from '../../../src/store/change-feed/purge-tombstones.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi()
after(() => api.stop())
const { db } = api

/** Creates a service without records. */
const createEmptyService = () => api.createService({ readsPerMinute: 'off' })

test('PostgreSQL keeps few prepared statements, whatever record types readers follow', async () => {
  const caller = await createEmptyService()
  await upsertStaff(db, caller.service, [{ id: '77', code: 'JSMITH', surname: 'Smith' }])
  // Statements are kept per connection, and any connection of the pool can serve a request.
  const countPrepared = sql`select count(*)::integer as count from pg_prepared_statements where statement like '%tombstone_purge%'`
  const countStatements = async () => {
    const counts = await Promise.all(Array.from({ length: 12 }, () => db.row<{ count: number }>(countPrepared)))
    return Math.max(...counts.map(row => row?.count ?? 0))
  }
  const before = await countStatements()
  for (let subset = 1; subset < 2 ** changeKinds.length; subset += 3) {
    const kinds = changeKinds.filter((_, i) => subset & (2 ** i)).join()
    const { meta } = (await caller.get(`/changes?kinds=${kinds}`)).json
    await caller.get(`/changes?kinds=${kinds}&after_cursor=${meta.endCursor}`)
  }
  const added = (await countStatements()) - before
  assert.ok(added > 1 && added <= 1 + changeKinds.length, String(added))
})

test('a record removed again during a tombstone purge keeps its new tombstone', async () => {
  const caller = await api.createService({ tombstoneRetentionDays: 30 })
  const isOwnRow = sql`service_id = ${caller.service.id}`
  await db.run(sql`
    insert into tombstone select ${caller.service.id}, 'customer', i::text, now() - make_interval(days => 40 - i) from generate_series(1, 3) i`)
  let purging: Promise<unknown> = Promise.resolve()
  await db.transaction(async tx => {
    await tx.run(sql`update tombstone set changed_at = now() - interval '1 hour' where ${isOwnRow} and id = '1'`)
    purging = purgeOldTombstones(db, caller.service, () => false)
    await waitForBlockedConnections(api)
  })
  await purging
  const remaining = await db.rows(sql`select id from tombstone where ${isOwnRow} order by id`)
  assert.deepEqual(remaining, [{ id: '1' }, { id: '3' }], 'the tombstone that was the newest must remain too')
})
