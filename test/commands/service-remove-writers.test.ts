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
  const busy = await api.createService({ writesPerMinute: 'off' })
  const { id, name } = busy.service
  const responses: number[] = []
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; responses.at(-1) !== 403; i++) {
      const contact = { email: `busy-${writer}-${i}@example.com` }
      responses.push((await post(busy, '/customers', { firstname: 'Ann', surname: 'Lee', contact }, withKey())).status)
    }
  })
  const late = await api.db.pool.connect()
  try {
    await late.query('begin')
    await late.query('select next_change_timestamp($1, null)', [id])
    await waitUntil(() => responses.includes(201), 'some is written')
    const removing = startCommand(['service', 'remove', name, '--no-backup', '--yes', name], environment)
    await waitUntil(() => removing.out.includes(' closed.'), 'the service is closed', 60_000)
    await Promise.all(writers)
    await late.query(`insert into audit (service_id, id, changed_at, record) values ($1, 'late', now(), '{}')`, [id])
    await delay(6_000)
    assert.equal(removing.child.exitCode, null, 'it waits')
    assert.ok((await countRowsByTable(api.db, busy.service)).customer)
    await late.query('commit')
    assert.equal((await removing.ended).code, 0, removing.err)
  } finally {
    late.release()
  }
  assert.deepEqual(await countRowsByTable(api.db, busy.service), {})
  assert.deepEqual(new Set(responses).difference(new Set([201, 503, 403])), new Set())
  assert.ok(responses.includes(201))
  await assert.rejects(
    api.db.run(sql`select next_change_timestamp(${id}, null)`),
    /is being moved to another shard, restored or deleted/,
  )
})
