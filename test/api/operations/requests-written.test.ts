import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { createDayPartition } from '../../../src/store/request-log/blocks.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { waitUntil } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const captured = captureLog('warn')
const api = await startTestApi({ settings: { readsPerMinute: 'off' }, log: captured.log })
after(() => api.stop())
const { db } = api

test('log entries that cannot be written are retried without delaying requests', async () => {
  const caller = await api.createService()
  await db.run(sql`alter table request_block rename to elsewhere`)
  try {
    for (let i = 0; i < 3; i++) assert.equal((await caller.get('/stores', { 'x-request-id': `late-${i}` })).status, 200)
    await waitUntil(
      () => captured.text.includes('writing the request log failed, will retry'),
      'the failure is logged',
      20_000,
    )
  } finally {
    await db.run(sql`alter table elsewhere rename to request_block`)
  }
  await waitUntil(
    async () => (await caller.get('/requests?path=/stores')).json.data.length === 3,
    'the entries are in the log',
    30_000,
  )
})

test('queued log entries of several services are written in one statement', async () => {
  const shops: Caller[] = []
  while (shops.length < 120) shops.push(await api.createService())
  const countWritten = async () =>
    await db.row<{ services: number; statements: number }>(sql`
      select count(distinct service_id)::integer as services, count(distinct xmin::text)::integer as statements
        from request_block where strpos(lines, 'one-of-many') > 0`)
  await db.run(sql`alter table request_block rename to elsewhere`)
  try {
    await Promise.all(shops.map(caller => caller.get('/stores', { 'x-request-id': 'one-of-many' })))
  } finally {
    await db.run(sql`alter table elsewhere rename to request_block`)
  }
  await waitUntil(async () => (await countWritten())?.services, 'the first entries are stored', 30_000)
  assert.deepEqual(await countWritten(), { services: 120, statements: 1 })
})

test('several processes can create the partition of a day at once', async () => {
  const day = '2040-02-29'
  let waiting: Promise<unknown> | undefined
  await db.transaction(async tx => {
    await createDayPartition(tx, day)
    waiting = Promise.all([createDayPartition(db, day), createDayPartition(db, day)])
    await waitForBlockedConnections(api, 2)
  })
  await waiting
})
