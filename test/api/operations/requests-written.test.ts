import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { waitUntil } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { type Caller, startTestService } from '../../support/service.ts'

const kept = captureLog('warn')
const service = await startTestService({ settings: { readsPerMinute: 'off' }, log: kept.log })
after(() => service.stop())
const { db } = service

test('log entries that cannot be written are retried without delaying requests', async () => {
  const shop = await service.createService()
  await db.run(sql`alter table request_block rename to elsewhere`)
  try {
    for (let i = 0; i < 3; i++) assert.equal((await shop.get('/stores', { 'x-request-id': `late-${i}` })).status, 200)
    await waitUntil(() => kept.text.includes('writing the request log failed, will retry'), 'it could not be', 20_000)
  } finally {
    await db.run(sql`alter table elsewhere rename to request_block`)
  }
  await waitUntil(
    async () => (await shop.get('/requests?path=/stores')).json.data.length === 3,
    'they are in the log',
    30_000,
  )
})

test('queued log entries of several services are written in one statement', async () => {
  const shops: Caller[] = []
  while (shops.length < 120) shops.push(await service.createService())
  const written = async () =>
    await db.row<{ services: number; statements: number }>(sql`
      select count(distinct service_id)::integer as services, count(distinct xmin::text)::integer as statements
        from request_block where strpos(lines, 'one-of-many') > 0`)
  await db.run(sql`alter table request_block rename to elsewhere`)
  try {
    await Promise.all(shops.map(shop => shop.get('/stores', { 'x-request-id': 'one-of-many' })))
  } finally {
    await db.run(sql`alter table elsewhere rename to request_block`)
  }
  await waitUntil(async () => (await written())?.services, 'the first are there', 30_000)
  assert.deepEqual(await written(), { services: 120, statements: 1 })
})
