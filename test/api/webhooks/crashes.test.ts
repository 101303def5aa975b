import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sql } from '../../../src/database/db.ts'
import {
  createDirectory,
  type Environment,
  isHalted,
  startCommand,
  stopServer,
  waitUntil,
} from '../../support/processes.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import {
  getSignatureHeaders,
  neverRespond,
  parseChanges,
  type Receiver,
  respondWith,
  startReceiver,
} from '../../support/webhooks/receiver.ts'
import { post } from '../../support/write.ts'

let api: TestApi
let receiver: Receiver
before(async () => {
  api = await startTestApi({ environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
  receiver = await startReceiver()
})
after(async () => {
  await receiver.close()
  await api.stop()
})

/** Starts a worker process. */
const startWorkerProcess = (more: Environment = {}) =>
  startCommand(['worker'], {
    DATA_DIR: createDirectory(),
    DATABASE_URL: api.database.connection,
    SECRET_KEY: api.secret,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...more,
  })

async function createWebhook(name: string) {
  const created = await post(api, '/webhooks', { url: `${receiver.url}/${name}`, kinds: ['customer'] })
  assert.equal(created.status, 201, created.text)
  return created.json.data as { id: string; secret: string }
}

async function createCustomer(name: string): Promise<string> {
  const created = await post(api, '/customers', {
    firstname: name,
    surname: 'Smith',
    contact: { email: `${name}@example.com` },
  })
  assert.equal(created.status, 201, created.text)
  return created.json.data.id
}

const listDeliveries = (name: string) => receiver.received.filter(({ path }) => path === `/hooks/${name}`)
const isUpToDate = async (id: string) => (await api.get(`/webhooks/${id}`)).json.data.lag.pendingSince === null
const setState = (id: string, state: string) =>
  api.db.run(sql`update webhook set state = ${state} where webhook_id = ${id}`)

test('a worker killed at any crash point repeats at most one delivery', async t => {
  const killed = new Map<string, { id: string; secret: string; changedIds: string[]; at: number }>()
  const kill: Record<string, (name: string) => Promise<void>> = {
    async before_post() {
      assert.equal((await startWorkerProcess({ FAILPOINT: 'before_post' }).ended).signal, 'SIGKILL')
    },
    async after_post() {
      assert.equal((await startWorkerProcess({ FAILPOINT: 'after_post' }).ended).signal, 'SIGKILL')
    },
    /** Kills the worker before the endpoint responds. */
    async during(name) {
      receiver.respond = neverRespond
      const victim = startWorkerProcess()
      await waitUntil(() => listDeliveries(name).length, 'the endpoint has received the request', 30_000)
      victim.child.kill('SIGKILL')
      await victim.ended
      receiver.respond = respondWith(204)
    },
  }
  for (const [crashPoint, killWorker] of Object.entries(kill)) {
    const created = await createWebhook(crashPoint)
    const changed = [await createCustomer(`one-${crashPoint}`), await createCustomer(`two-${crashPoint}`)]
    await killWorker(crashPoint)
    assert.equal(listDeliveries(crashPoint).length, crashPoint === 'before_post' ? 0 : 1)
    // Pause this webhook, so that each process is killed during a delivery of another webhook.
    await setState(created.id, 'paused')
    changed.push(await createCustomer(`three-${crashPoint}`))
    killed.set(crashPoint, { ...created, changedIds: changed, at: performance.now() })
  }
  // Halt a worker right before it posts, for longer than its lease.
  const halting = await createWebhook('halted')
  const halted = startWorkerProcess({ FAILPOINT: 'before_post:stop' })
  const changed = [await createCustomer('one-halted')]
  await waitUntil(() => isHalted(halted.pid), 'the worker is halted', 30_000)

  for (const { id } of killed.values()) await setState(id, 'active')
  const healthy = [startWorkerProcess(), startWorkerProcess()]
  for (const [crashPoint, { id, secret, changedIds, at }] of killed) {
    const hasAll = () => {
      const ids = parseChanges(listDeliveries(crashPoint)).map(({ id: changedId }) => changedId)
      return changedIds.every(changedId => ids.includes(changedId))
    }
    await waitUntil(async () => hasAll() && (await isUpToDate(id)), crashPoint, 60_000)
    t.diagnostic(`killed at ${crashPoint}: up to date ${Math.round((performance.now() - at) / 100) / 10} s later`)
    const deliveries = listDeliveries(crashPoint)
    for (const delivery of deliveries) new Webhook(secret).verify(delivery.body, getSignatureHeaders(delivery))
    const bodies = new Map<string, Set<string>>()
    for (const { headers, body } of deliveries) {
      const delivery = String(headers['webhook-id'])
      bodies.set(delivery, (bodies.get(delivery) ?? new Set()).add(body))
    }
    assert.ok(
      [...bodies.values()].every(same => same.size === 1),
      'a repeated delivery must have the same body',
    )
    assert.ok(
      deliveries.length - bodies.size <= (crashPoint === 'before_post' ? 0 : 1),
      'at most one delivery may be repeated',
    )
    const uniqueChanges = [...bodies.values()].flatMap(([body = '']) => JSON.parse(body).data.changes)
    const receivedIds = uniqueChanges
      .map(({ id: changedId }) => changedId)
      .filter(changedId => changedIds.includes(changedId))
    assert.deepEqual(receivedIds, changedIds, 'each record must arrive once, in the order of the changes')
  }
  await waitUntil(() => isUpToDate(halting.id), 'another worker takes over the halted delivery', 60_000)
  const receivedCount = listDeliveries('halted').length
  halted.child.kill('SIGCONT')
  changed.push(await createCustomer('two-halted'))
  await waitUntil(
    async () => listDeliveries('halted').length > receivedCount && (await isUpToDate(halting.id)),
    'deliveries continue',
    30_000,
  )
  await stopServer(halted)
  const ids = parseChanges(listDeliveries('halted')).map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length, 'the halted worker must not post its delivery')
  for (const id of changed) assert.ok(ids.includes(id))
  for (const server of healthy) assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
})

test('two workers deliver each change once and never share an endpoint', async () => {
  const [first, second] = [startWorkerProcess(), startWorkerProcess()]
  const created = await Promise.all(Array.from({ length: 12 }, (_, i) => createWebhook(`shared${i}`)))
  const busy = new Map<string, number>()
  receiver.respond = ({ path }, response) => {
    busy.set(path, (busy.get(path) ?? 0) + 1)
    assert.equal(busy.get(path), 1, path)
    setTimeout(() => {
      busy.set(path, 0)
      response.writeHead(204).end()
    }, 50)
  }
  const ids: string[] = []
  for (let i = 0; i < 30; i++) ids.push(await createCustomer(`shared-${i}`))
  for (const [i, { id }] of created.entries()) {
    const receivedIds = () => parseChanges(listDeliveries(`shared${i}`)).map(({ id: changedId }) => changedId)
    await waitUntil(async () => receivedIds().length >= ids.length && (await isUpToDate(id)), `endpoint ${i}`, 30_000)
    assert.deepEqual(receivedIds(), ids)
  }
  await Promise.all([stopServer(first), stopServer(second)])
})
