import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { post, remove } from '../../support/write.ts'
import { setUpHooks } from './hooks.ts'

const hooks = setUpHooks()
const { begin, customers, hook, shown, until } = hooks
const isUpToDate = async (id: string) => (await shown(id)).lag.pendingSince === null

test('endpoints of a service still moving in are not updated', async t => {
  const { db, service } = hooks.api
  const { id } = await hook()
  await db.run(sql`update webhook set failures = 3, failing_since = now() - interval '61 minutes'`)
  const setMoveState = (state: string | null) =>
    db.run(sql`update service set move_state = ${state} where service_id = ${service.id}`)
  await setMoveState('incoming')
  t.after(() => setMoveState(null))
  begin()
  const looked = async () =>
    (await db.row<{ is: boolean }>(sql`select due_at > now() as "is" from job where name = 'schedule-deliveries'`))?.is
  await until(looked, 'it was looked')
  assert.deepEqual(await db.rows(sql`select from alert`), [])
  await setMoveState(null)
  await until(async () => (await shown(id)).state === 'failing', 'it is failing once it is here')
})

test('an endpoint rewound during the expiry check is not paused', async () => {
  const { db, service } = hooks.api
  await customers('Ann')
  const { id, cursor: old } = await hook()
  const other = await hook()
  await post(hooks.api, `/webhooks/${other.id}/rewind`, { to: 'beginning' })
  const { cursor } = await shown(other.id)
  await remove(hooks.api, `/webhooks/${other.id}`)
  await db.run(sql`
    insert into tombstone_purge (service_id, kind, purged_until) values (${service.id}, 'customer', now())
    on conflict (service_id, kind) do update set purged_until = excluded.purged_until`)
  await db.transaction(async tx => {
    await tx.run(sql`update webhook set cursor = ${cursor} where webhook_id = ${id} and cursor = ${old}`)
    begin()
    await customers('Bea')
    await until(
      () => db.run(sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`),
      'it is about to be paused',
    )
  })
  await until(() => isUpToDate(id), 'all changes are delivered')
  assert.equal((await shown(id)).state, 'active')
  assert.deepEqual(await db.rows(sql`select kind, subject, detail from alert`), [])
})
