import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:https'
import { after, test } from 'node:test'
import { openDatabase, sql } from '../../../src/database/db.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeExpired } from '../../../src/jobs/purge-expired.ts'
import { buildCustomer, countCustomersByEmail, postCustomer } from '../../support/customer-bodies.ts'
import { holdLocks, waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { assertReplay } from '../../support/write.ts'

const api = await startTestApi({ settings: { writesPerMinute: 'off' } })
const other = await startTestApi({ sharedWith: api })
after(async () => {
  await other.stop()
  await api.stop()
})

test('50 concurrent requests with one key execute one write', async () => {
  for (let round = 0; round < 3; round++) {
    const body = buildCustomer()
    const key = randomUUID()
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => postCustomer(i % 2 ? api : other, body, key)),
    )
    const successful = responses.filter(({ status }) => status === 201)
    const first = successful.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    assert.equal(first.length, 1)
    assert.equal(new Set(successful.map(({ text }) => text)).size, 1)
    for (const [i, response] of responses.entries())
      if (response.status !== 201) {
        assertProblem(response, 'idempotency_in_progress', (i % 2 ? api : other).baseUrl, '/customers')
        assert.match(String(response.headers['retry-after']), /^[1-9]\d?$/)
      }
    assert.equal(await countCustomersByEmail(api, body.contact.email), 1)
    const repeated = await postCustomer(other, body, key)
    assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true'])
  }
})

test('a repeat is rejected during the write and replayed afterwards, everywhere', async () => {
  const body = buildCustomer()
  const release = await holdLocks(api.db, 'lock table customer in share mode')
  const first = postCustomer(api, body, 'running')
  try {
    await waitForBlockedConnections(api)
    for (const server of [api, other]) {
      const response = await postCustomer(server, body, 'running')
      assertProblem(response, 'idempotency_in_progress', server.baseUrl, '/customers')
      assert.equal(response.headers['retry-after'], '1')
    }
    const another = await postCustomer(api, { ...body, firstname: 'Bea' }, 'running')
    assertProblem(another, 'idempotency_in_progress', api.baseUrl, '/customers')
  } finally {
    release()
  }
  assert.equal((await first).status, 201)
  for (const server of [api, other]) assertReplay(await postCustomer(server, body, 'running'), await first)
})

test('a disconnected client gets the response by repeating the request', async () => {
  const body = buildCustomer()
  const release = await holdLocks(api.db, 'lock table customer in share mode')
  const disconnect = new AbortController()
  try {
    const disconnected = sendAndDisconnect(body, 'gone', disconnect.signal)
    await waitForBlockedConnections(api)
    disconnect.abort()
    await disconnected
  } finally {
    release()
  }
  let response = await postCustomer(api, body, 'gone')
  while (response.status === 409) response = await postCustomer(api, body, 'gone')
  assert.equal(response.status, 201)
  assert.equal(response.headers['idempotent-replayed'], 'true', 'the write must complete without its client')
  assert.equal(await countCustomersByEmail(api, body.contact.email), 1)
})

/** Sends a request and closes the connection when the signal fires. */
async function sendAndDisconnect(body: unknown, key: string, signal: AbortSignal) {
  const clientRequest = request(`${api.baseUrl}/customers`, {
    method: 'POST',
    ca: api.ca,
    agent: false,
    signal,
    headers: { ...buildCredentials(api), 'content-type': 'application/json', 'idempotency-key': key },
  })
  await new Promise<void>(resolve => {
    clientRequest.on('error', () => resolve())
    clientRequest.end(JSON.stringify(body))
  })
}

test('a key expires after 24 hours and its response is deleted', async () => {
  const body = buildCustomer()
  const first = await postCustomer(api, body, 'yesterday')
  const setAge = (interval: string) =>
    api.db.run(sql`
      update idempotent_response set created_at = now() - ${interval}::interval
       where service_id = ${api.service.id} and created_at = (select max(created_at) from idempotent_response)`)
  assert.equal(await setAge('23 hours 59 minutes'), 1)
  assertReplay(await postCustomer(api, body, 'yesterday'), first)
  await api.db.run(sql`
    update idempotent_response set created_at = now() - interval '24 hours 1 second' where created_at < now() - interval '23 hours'`)
  const repeated = await postCustomer(api, body, 'yesterday')
  assertProblem(repeated, 'email_taken', api.baseUrl, '/customers')
  const fresh = buildCustomer()
  const second = await postCustomer(api, fresh, 'yesterday')
  assert.deepEqual([second.status, second.headers['idempotent-replayed']], [201, undefined])
  assertReplay(await postCustomer(api, fresh, 'yesterday'), second)
  await postCustomer(api, buildCustomer(), 'old')
  assert.equal(await setAge('25 hours'), 1)
  const before = await api.db.run(sql`select from idempotent_response`)
  await purgeExpired({ db: api.db, signal: new AbortController().signal } as JobRun)
  assert.equal(await api.db.run(sql`select from idempotent_response`), before - 1)
  assertReplay(await postCustomer(api, fresh, 'yesterday'), second)
})

test('expired responses are purged in batches and one failure blocks no others', async t => {
  const { db, database } = api
  const { id } = api.service
  for (const text of [
    sql`create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.0005); return old; end $$`,
    sql`create trigger slow before delete on idempotent_response for each row execute function slow()`,
    sql`create function never() returns trigger language plpgsql as $$ begin raise 'never'; end $$`,
    sql`create trigger never before delete on pin_guard for each row execute function never()`,
    sql`insert into pin_guard (service_id, subject, failures, blocked_until) values (${id}, 'x', 1, now() - interval '2 days')`,
    sql`insert into alert (service_id, kind, subject, detail, changed_at) values (${id}, 'email_failed', 'old', '', now() - interval '91 days')`,
    sql`insert into idempotent_response (service_id, operation, key_hash, request_hash, created_at)
        select ${id}, 'old', int4send(i), '', now() - interval '25 hours' from generate_series(1, 3000) i`,
  ])
    await db.run(text)
  const dbWithTimeout = openDatabase(database.connection, { statementTimeoutMs: 2_500 })
  t.after(() => dbWithTimeout.close())
  const jobRun = { db: dbWithTimeout, signal: new AbortController().signal } as JobRun
  await assert.rejects(purgeExpired(jobRun), /never/)
  assert.equal(await db.row(sql`select from idempotent_response where operation = 'old'`), undefined)
  assert.equal(await db.row(sql`select from alert where subject = 'old'`), undefined)
  await db.run(sql`drop trigger slow on idempotent_response`)
  await db.run(sql`drop trigger never on pin_guard`)
})

test('stored responses reveal neither response, key nor request', async () => {
  const body = { ...buildCustomer(), surname: 'Canarysurname' }
  const { json } = await postCustomer(api, body, 'canarykey')
  const [stored] = await api.db.rows<Record<string, Buffer | string | number>>(
    sql`select * from idempotent_response where service_id = ${api.service.id} order by created_at desc limit 1`,
  )
  assert.ok(stored)
  const bytes = Buffer.concat(
    Object.values(stored).map(value => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
  ).toString('latin1')
  for (const secret of ['Canarysurname', 'canarykey', body.contact.email, json.data.id, 'firstname'])
    assert.ok(!bytes.includes(secret), secret)
})

test('a stored response that was moved or changed is never replayed', async () => {
  const [intact, forged] = [buildCustomer(), buildCustomer()]
  await postCustomer(api, intact, 'kept')
  await postCustomer(api, forged, 'forged')
  await api.db.run(sql`
    update idempotent_response a set response = b.response
      from (select response from idempotent_response where service_id = ${api.service.id} order by created_at desc offset 1 limit 1) b
     where (service_id, key_hash) = (select service_id, key_hash from idempotent_response order by created_at desc limit 1)`)
  assertProblem(await postCustomer(api, forged, 'forged'), 'internal_error', api.baseUrl, '/customers')
  assert.equal((await postCustomer(api, intact, 'kept')).headers['idempotent-replayed'], 'true')
})
