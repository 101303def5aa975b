import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import { countRowsByTable } from '../support/postgres/count-rows.ts'
import { startCommand, waitUntil } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'

const api = await startTestApi()
after(() => api.stop())
const environment = { DATABASE_URL: api.database.connection, SECRET_KEY: api.secret }

test('writers during a service removal finish or are rejected without traces', async () => {
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const busyCaller = await api.createService({ writesPerMinute: 'off' })
  const { id, name } = busyCaller.service
  const responses: number[] = []
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; responses.at(-1) !== 403; i++) {
      const contact = { email: `busy-${writer}-${i}@example.com` }
      responses.push(
        (await post(busyCaller, '/customers', { firstname: 'Ann', surname: 'Lee', contact }, withKey())).status,
      )
    }
  })
  const lateClient = await api.db.pool.connect()
  try {
    await lateClient.query('begin')
    await lateClient.query('select next_change_timestamp($1, null)', [id])
    await waitUntil(() => responses.includes(201), 'a customer is created')
    const removal = startCommand(['service', 'remove', name, '--no-backup', '--yes', name], environment)
    await waitUntil(() => removal.out.includes(' closed.'), 'the service is closed', 60_000)
    await Promise.all(writers)
    await lateClient.query(`insert into audit (service_id, id, changed_at, record) values ($1, 'late', now(), '{}')`, [
      id,
    ])
    await delay(6_000)
    assert.equal(removal.child.exitCode, null, 'the removal must wait for the open transaction')
    assert.ok((await countRowsByTable(api.db, busyCaller.service)).customer)
    await lateClient.query('commit')
    assert.equal((await removal.ended).code, 0, removal.err)
  } finally {
    lateClient.release()
  }
  assert.deepEqual(await countRowsByTable(api.db, busyCaller.service), {})
  assert.deepEqual(new Set(responses).difference(new Set([201, 503, 403])), new Set())
  assert.ok(responses.includes(201))
  await assert.rejects(
    api.db.run(sql`select next_change_timestamp(${id}, null)`),
    /is being moved to another shard, restored or deleted/,
  )
})
