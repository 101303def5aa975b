import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { generateCustomers } from '../../scenarios/faults/generated-customers.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { sql } from '../../src/database/db.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../support/database.ts'
import { cli, createDirectory, type RunningServer, serve, stopServer, waitUntil } from '../support/processes.ts'
import { buildCredentials, createRequester } from '../support/servers.ts'
import type { TestResponse } from '../support/service.ts'

// A process of its own that has too little of what it needs: files, memory, the processor.

const database = await createTestDatabase()
after(() => database.drop())
const { db } = database
const secret = randomBytes(32).toString('hex')
const service = (await addService(db, 'luma', { readsPerMinute: 'off', writesPerMinute: 'off' })) ?? assert.fail()
const password = (await addAccount(db, deriveKeys(secret), 'luma', service, 'maintainer')) ?? assert.fail()
const street = 'A street whose name takes all the room that it has'
await upsertCustomers(db, service, generateCustomers(100, street))
const page = '/customers/search?limit=100'

/** A process of the installation, with a little less of something. */
const served = (name: string, program: readonly [string, ...string[]], more: Record<string, string> = {}) =>
  serve(
    ['--no-demo'],
    {
      DATA_DIR: join(createDirectory(), name),
      DATABASE_URL: database.connection,
      SECRET_KEY: secret,
      RUN_JOBS: 'false',
      LOG_LEVEL: 'error',
      ...more,
    },
    { program },
  )

/** A client with connections that are kept, so many at most. */
function clientOf({ baseUrl, caFile = '' }: RunningServer, maxSockets: number) {
  const ca = readFileSync(caFile, 'utf8')
  const agent = new Agent({ keepAlive: true, maxSockets, ca })
  const sendRequest = createRequester({ baseUrl, ca, agent })
  const headers = { ...buildCredentials({ username: 'luma', password, service }), 'content-type': 'application/json' }
  return {
    ask: (path: string, body?: object) =>
      sendRequest(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }),
    close: () => agent.destroy(),
  }
}

/** True for a response, or for a rejection with `Retry-After`. */
const isPolite = ({ status, headers }: TestResponse) =>
  status < 300 || ((status === 503 || status === 429) && Number(headers['retry-after']) > 0)

test('connected clients get responses despite exhausted file descriptors', async () => {
  const api = await served('files', ['/bin/sh', '-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, cli])
  const client = clientOf(api, 1)
  const crowd: Socket[] = []
  const files = () => readdirSync(`/proc/${api.pid}/fd`).length
  try {
    assert.equal((await client.ask(page)).status, 200)
    for (let i = 0; i < 150; i++)
      crowd.push(
        connect(Number(new URL(api.baseUrl).port), '127.0.0.1')
          .on('error', () => {})
          .resume(),
      )
    await waitUntil(() => files() >= 98, 'its files are used up', 30_000)
    for (let i = 0; i < 5; i++) {
      const responses = await Promise.all([client.ask(page), client.ask('/stores'), client.ask('/health/live')])
      assert.ok(responses.every(isPolite), JSON.stringify(responses.map(({ status }) => status)))
    }
    for (const socket of crowd) socket.destroy()
    const fresh = clientOf(api, 4)
    await waitUntil(
      () =>
        fresh.ask(page).then(
          ({ status }) => status === 200,
          () => false,
        ),
      'others are served',
      30_000,
    )
    fresh.close()
    await waitUntil(() => files() < 60, 'the files are back', 60_000)
    assert.equal(api.child.exitCode, null)
  } finally {
    for (const socket of crowd) socket.destroy()
    client.close()
    await stopServer(api)
  }
})

test('a small heap survives a crowd that requests large pages', async () => {
  const api = await served('heap', [process.execPath, '--max-old-space-size=72', cli])
  const client = clientOf(api, 150)
  try {
    const responses = await Promise.all(Array.from({ length: 450 }, () => client.ask(page)))
    assert.deepEqual(
      responses.filter(response => !isPolite(response)).map(({ status, text }) => `${status} ${text.slice(0, 200)}`),
      [],
    )
    assert.ok(responses.filter(({ status }) => status === 200).length > 100)
    assert.equal((await client.ask(page)).status, 200)
    assert.deepEqual([api.child.exitCode, api.err], [null, ''])
  } finally {
    client.close()
    await stopServer(api)
  }
})

test('a starved processor executes writes once and stays live', async () => {
  const api = await served('processor', [process.execPath, cli])
  const client = clientOf(api, 10)
  let isOver = false
  /** A twentieth of the time is its own. */
  const taking = (async () => {
    while (!isOver) {
      api.child.kill('SIGSTOP')
      await delay(190)
      api.child.kill('SIGCONT')
      await delay(10)
    }
  })()
  try {
    const emails = Array.from({ length: 20 }, (_, i) => `slow${i}@example.com`)
    const [responses, live] = await Promise.all([
      Promise.all(
        emails.map(email => client.ask('/customers', { firstname: 'A', surname: 'Slow', contact: { email } })),
      ),
      client.ask('/health/live'),
    ])
    assert.equal(live.status, 200)
    assert.ok(responses.every(isPolite), JSON.stringify(responses.map(({ status }) => status)))
    isOver = true
    await taking
    const written = await db.run(sql`select from customer where service_id = ${service.id} and surname = 'Slow'`)
    assert.equal(written, responses.filter(({ status }) => status === 201).length)
    assert.ok(written > 0)
    assert.equal((await client.ask(page)).status, 200)
  } finally {
    isOver = true
    await taking
    api.child.kill('SIGCONT')
    client.close()
    await stopServer(api)
  }
})
