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

// Servers that have too few file descriptors, too little memory or too little CPU time.

const database = await createTestDatabase()
after(() => database.drop())
const { db } = database
const secret = randomBytes(32).toString('hex')
const service = (await addService(db, 'luma', { readsPerMinute: 'off', writesPerMinute: 'off' })) ?? assert.fail()
const password = (await addAccount(db, deriveKeys(secret), 'luma', service, 'maintainer')) ?? assert.fail()
const street = 'A street with a name that has the greatest length.'
await upsertCustomers(db, service, generateCustomers(100, street))
const page = '/customers/search?limit=100'

/** Starts a server of the installation with limited resources. */
const serveLimited = (name: string, program: readonly [string, ...string[]], overrides: Record<string, string> = {}) =>
  serve(
    ['--no-demo'],
    {
      DATA_DIR: join(createDirectory(), name),
      DATABASE_URL: database.connection,
      SECRET_KEY: secret,
      RUN_JOBS: 'false',
      LOG_LEVEL: 'error',
      ...overrides,
    },
    { program },
  )

/** Creates a client that keeps at most `maxSockets` connections open. */
function createClient({ baseUrl, caFile = '' }: RunningServer, maxSockets: number) {
  const ca = readFileSync(caFile, 'utf8')
  const agent = new Agent({ keepAlive: true, maxSockets, ca })
  const sendRequest = createRequester({ baseUrl, ca, agent })
  const headers = { ...buildCredentials({ username: 'luma', password, service }), 'content-type': 'application/json' }
  return {
    sendRequest: (path: string, body?: object) =>
      sendRequest(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }),
    close: () => agent.destroy(),
  }
}

/** True for a response, or for a rejection with `Retry-After`. */
const isServedOrRetryable = ({ status, headers }: TestResponse) =>
  status < 300 || ((status === 503 || status === 429) && Number(headers['retry-after']) > 0)

test('connected clients get responses despite exhausted file descriptors', async () => {
  const api = await serveLimited('files', ['/bin/sh', '-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, cli])
  const client = createClient(api, 1)
  const idleSockets: Socket[] = []
  const countFiles = () => readdirSync(`/proc/${api.pid}/fd`).length
  try {
    assert.equal((await client.sendRequest(page)).status, 200)
    for (let i = 0; i < 150; i++)
      idleSockets.push(
        connect(Number(new URL(api.baseUrl).port), '127.0.0.1')
          .on('error', () => {})
          .resume(),
      )
    await waitUntil(() => countFiles() >= 98, 'the file descriptors are exhausted', 30_000)
    for (let i = 0; i < 5; i++) {
      const responses = await Promise.all([
        client.sendRequest(page),
        client.sendRequest('/stores'),
        client.sendRequest('/health/live'),
      ])
      assert.ok(responses.every(isServedOrRetryable), JSON.stringify(responses.map(({ status }) => status)))
    }
    for (const socket of idleSockets) socket.destroy()
    const newClient = createClient(api, 4)
    await waitUntil(
      () =>
        newClient.sendRequest(page).then(
          ({ status }) => status === 200,
          () => false,
        ),
      'new clients are served',
      30_000,
    )
    newClient.close()
    await waitUntil(() => countFiles() < 60, 'the file descriptors are closed', 60_000)
    assert.equal(api.child.exitCode, null)
  } finally {
    for (const socket of idleSockets) socket.destroy()
    client.close()
    await stopServer(api)
  }
})

test('a small heap survives a crowd that requests large pages', async () => {
  const api = await serveLimited('heap', [process.execPath, '--max-old-space-size=72', cli])
  const client = createClient(api, 150)
  try {
    const responses = await Promise.all(Array.from({ length: 450 }, () => client.sendRequest(page)))
    assert.deepEqual(
      responses
        .filter(response => !isServedOrRetryable(response))
        .map(({ status, text }) => `${status} ${text.slice(0, 200)}`),
      [],
    )
    assert.ok(responses.filter(({ status }) => status === 200).length > 100)
    assert.equal((await client.sendRequest(page)).status, 200)
    assert.deepEqual([api.child.exitCode, api.err], [null, ''])
  } finally {
    client.close()
    await stopServer(api)
  }
})

test('a starved processor executes writes once and stays live', async () => {
  const api = await serveLimited('processor', [process.execPath, cli])
  const client = createClient(api, 10)
  let isOver = false
  // The server runs for a twentieth of the time.
  const throttling = (async () => {
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
        emails.map(email => client.sendRequest('/customers', { firstname: 'A', surname: 'Slow', contact: { email } })),
      ),
      client.sendRequest('/health/live'),
    ])
    assert.equal(live.status, 200)
    assert.ok(responses.every(isServedOrRetryable), JSON.stringify(responses.map(({ status }) => status)))
    isOver = true
    await throttling
    const written = await db.run(sql`select from customer where service_id = ${service.id} and surname = 'Slow'`)
    assert.equal(written, responses.filter(({ status }) => status === 201).length)
    assert.ok(written > 0)
    assert.equal((await client.sendRequest(page)).status, 200)
  } finally {
    isOver = true
    await throttling
    api.child.kill('SIGCONT')
    client.close()
    await stopServer(api)
  }
})
