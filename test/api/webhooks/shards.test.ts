import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { post, remove } from '../../support/write.ts'
import { setUpWebhooks } from './hooks.ts'

const hooks = setUpWebhooks()
const { startTestWorker, createCustomers, createWebhook, getWebhook, waitUntil } = hooks
const isUpToDate = async (id: string) => (await getWebhook(id)).lag.pendingSince === null

test('endpoints of an incoming service are not updated', async t => {
  const { db, service } = hooks.api
  const { id } = await createWebhook()
  await db.run(sql`update webhook set failures = 3, failing_since = now() - interval '61 minutes'`)
  const setMoveState = (state: string | null) =>
    db.run(sql`update service set move_state = ${state} where service_id = ${service.id}`)
  await setMoveState('incoming')
  t.after(() => setMoveState(null))
  startTestWorker()
  const isChecked = async () =>
    (await db.row<{ is: boolean }>(sql`select due_at > now() as "is" from job where name = 'schedule-deliveries'`))?.is
  await waitUntil(isChecked, 'the endpoints were checked')
  assert.deepEqual(await db.rows(sql`select from alert`), [])
  await setMoveState(null)
  await waitUntil(async () => (await getWebhook(id)).state === 'failing', 'the endpoint is failing after the move')
})

test('an endpoint rewound during the expiry check is not paused', async () => {
  const { db, service } = hooks.api
  await createCustomers('Ann')
  const { id, cursor: oldCursor } = await createWebhook()
  const other = await createWebhook()
  await post(hooks.api, `/webhooks/${other.id}/rewind`, { to: 'beginning' })
  const { cursor } = await getWebhook(other.id)
  await remove(hooks.api, `/webhooks/${other.id}`)
  await db.run(sql`
    insert into tombstone_purge (service_id, kind, purged_until) values (${service.id}, 'customer', now())
    on conflict (service_id, kind) do update set purged_until = excluded.purged_until`)
  await db.transaction(async tx => {
    await tx.run(sql`update webhook set cursor = ${cursor} where webhook_id = ${id} and cursor = ${oldCursor}`)
    startTestWorker()
    await createCustomers('Bea')
    await waitForBlockedConnections({ db })
  })
  await waitUntil(() => isUpToDate(id), 'all changes are delivered')
  assert.equal((await getWebhook(id)).state, 'active')
  assert.deepEqual(await db.rows(sql`select kind, subject, detail from alert`), [])
})
