import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../../client/src/webhooks.ts'
import { sql } from '../../../src/database/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { addShipment, createReturn, fillShop, getCreatedRecord, placeOrder } from '../../support/order-shop.ts'
import { getSignatureHeaders, parseChanges, respondWith } from '../../support/webhooks/receiver.ts'
import { post, put, remove } from '../../support/write.ts'
import { setUpWebhooks } from './hooks.ts'

const hooks = setUpWebhooks({ settings: { alertEmail: 'operations@luma.example' } })
const { startTestWorker, createCustomers, makeDue, createWebhook, waitForDeliveries, getWebhook, waitUntil } = hooks

test("a delivery's signature is verified by another Standard Webhooks implementation", async () => {
  startTestWorker()
  const { id, secret } = await createWebhook()
  const [customer] = await createCustomers('Veronica')
  await waitForDeliveries(1)
  const [delivery] = hooks.receiver.received
  assert.ok(delivery)
  const verified = new Webhook(secret).verify(delivery.body, getSignatureHeaders(delivery)) as {
    type: string
    data: object
  }
  assert.equal(verified.type, 'records.changed')
  assert.deepEqual(
    await verifyWebhook(delivery.body, delivery.headers, secret),
    verified,
    'our client must verify it too',
  )
  const { data, timestamp } = JSON.parse(delivery.body)
  assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000)
  assert.equal(data.service, hooks.api.service.name)
  assert.deepEqual(Object.keys(data.changes[0]), ['kind', 'id', 'action', 'changedAt', 'path'])
  assert.equal(data.changes[0].path, `/customers/${customer}`)
  assert.equal(delivery.headers['content-type'], 'application/json')
  assert.throws(() => new Webhook('whsec_AAAA').verify(delivery.body, getSignatureHeaders(delivery)))
  await waitUntil(
    async () => (await getWebhook(id)).cursor === data.cursor,
    'the webhook has the cursor of the delivery',
  )
  const { state, lag, lastFailure, lastSuccessAt } = await getWebhook(id)
  assert.deepEqual(
    { state, lag, lastFailure },
    { state: 'active', lag: { pendingSince: null, seconds: 0 }, lastFailure: null },
  )
  assert.ok(lastSuccessAt)
  const { json } = await hooks.api.get(`/changes?kinds=customer&after_cursor=${data.cursor}`)
  assert.deepEqual(json.data, [], 'the cursor must be valid in the change feed')
})

test('shipments and returns are delivered to webhooks of their types', async () => {
  const { api } = hooks
  await fillShop(api.db, api.service)
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 1 }])
  const { secret } = await createWebhook({ kinds: ['shipment', 'return'] })
  startTestWorker()
  const shipmentId = await addShipment(api, api, order.id)
  const created = getCreatedRecord(await createReturn(api, order.id, { 'HOOD-S': 1 }))
  const listDelivered = () => new Set(parseChanges(hooks.receiver.received).map(({ kind, id }) => `${kind} ${id}`))
  const expected = new Set([`shipment ${shipmentId}`, `return ${created.id}`])
  await waitUntil(() => listDelivered().size === expected.size, 'both changes are delivered')
  assert.deepEqual(listDelivered(), expected)
  for (const delivery of hooks.receiver.received) await verifyWebhook(delivery.body, delivery.headers, secret)
})

test('a webhook starts with new changes, or with everything if requested', async () => {
  const [first] = await createCustomers('Veronica')
  await createWebhook()
  const late = await createWebhook({ fromBeginning: true, url: `${hooks.receiver.url}/all` })
  await createWebhook({ kinds: ['store'], url: `${hooks.receiver.url}/stores` })
  startTestWorker()
  const [second] = await createCustomers('John')
  const receivedIds = (path: string) =>
    new Set(parseChanges(hooks.receiver.received.filter(delivery => delivery.path === path)).map(change => change.id))
  // One endpoint may receive the changes in one delivery or in two.
  await waitUntil(
    () => receivedIds('/hooks/all').size === 2 && receivedIds('/hooks').size === 1,
    'both webhooks get their changes',
  )
  await waitUntil(async () => (await getWebhook(late.id)).lag.pendingSince === null, 'all changes are delivered')
  assert.deepEqual([...receivedIds('/hooks/all')], [first, second])
  assert.deepEqual([...receivedIds('/hooks')], [second])
  assert.deepEqual([...receivedIds('/hooks/stores')], [])
})

test('a webhook with a new URL continues only there', async () => {
  await upsertCustomers(
    hooks.api.db,
    hooks.api.service,
    Array.from({ length: 1_000 }, (_, i) => ({ id: `moved${i}`, firstname: 'Ann', surname: 'Smith' })),
  )
  const { id } = await createWebhook({ fromBeginning: true, url: `${hooks.receiver.url}/before` })
  const listPaths = () => hooks.receiver.received.map(({ path }) => path)
  let update: Promise<unknown> | undefined
  let countBefore = 0
  // The third delivery gets its response after the URL has changed.
  hooks.receiver.respond = async (_, response) => {
    if (listPaths().length === 3) {
      update = put(hooks.api, `/webhooks/${id}`, { url: `${hooks.receiver.url}/behind` })
      await update
      countBefore = listPaths().length
    }
    response.writeHead(204).end()
  }
  startTestWorker()
  await waitUntil(async () => update && (await getWebhook(id)).lag.pendingSince === null, 'all changes are delivered')
  assert.deepEqual(new Set(listPaths().slice(0, countBefore)), new Set(['/hooks/before']))
  assert.deepEqual(new Set(listPaths().slice(countBefore)), new Set(['/hooks/behind']))
  assert.equal(new Set(parseChanges(hooks.receiver.received).map(change => change.id)).size, 1_000)
})

test('a failed delivery is repeated unchanged except for time and signature', async () => {
  startTestWorker()
  const { id, secret } = await createWebhook()
  hooks.receiver.respond = respondWith(500, {}, 'out of order')
  const [first] = await createCustomers('Veronica')
  await waitForDeliveries(1)
  const [second] = await createCustomers('John')
  await waitUntil(async () => (await getWebhook(id)).lastFailure !== null, 'the failure is shown')
  const { lastFailure, state } = await getWebhook(id)
  assert.deepEqual({ ...lastFailure, at: '' }, { at: '', status: 500, detail: 'The endpoint returned 500.' })
  assert.equal(state, 'active')
  hooks.receiver.respond = respondWith(200, {}, 'ok')
  await makeDue()
  await waitForDeliveries(3)
  const [original, again, other] = hooks.receiver.received
  assert.ok(original && again && other)
  assert.equal(original.headers['webhook-id'], again.headers['webhook-id'])
  assert.equal(original.body, again.body)
  for (const delivery of [original, again, other])
    new Webhook(secret).verify(delivery.body, getSignatureHeaders(delivery))
  assert.deepEqual(
    [original, again, other].map(delivery => parseChanges([delivery]).map(change => change.id)),
    [[first], [first], [second]],
  )
  await waitUntil(async () => (await getWebhook(id)).lag.pendingSince === null, 'the webhook is up to date')
  const { json } = await hooks.api.get(`/webhooks/${id}/attempts`)
  const attempts = json.data.map(({ status, detail, response, changes }: Record<string, unknown>) => [
    status,
    detail,
    response,
    changes,
  ])
  assert.deepEqual(attempts, [
    [200, null, 'ok', 1],
    [200, null, 'ok', 1],
    [500, 'The endpoint returned 500.', 'out of order', 1],
  ])
})

test('retry delays grow from 5 seconds to one hour', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  hooks.receiver.respond = respondWith(503)
  await createCustomers('Veronica')
  const delays: number[] = []
  for (let attempt = 1; attempt <= 7; attempt++) {
    await waitForDeliveries(attempt)
    const readWait = () =>
      hooks.api.db.row<{ wait: number; failures: number; due: number | null }>(sql`
        select extract(epoch from not_before - now())::float8 as wait, failures, extract(epoch from due_at - not_before)::float8 as due
          from webhook w left join job j on j.subject = w.webhook_id and j.lease is null where webhook_id = ${id}`)
    await waitUntil(async () => {
      const lag = await readWait()
      return lag?.failures === attempt && lag.due !== null
    }, 'the attempt is over')
    const lag = await readWait()
    assert.ok(Math.abs(lag?.due ?? 99) < 2, 'the job is due when the next attempt is')
    delays.push(Math.ceil(lag?.wait ?? 0))
    await makeDue()
  }
  assert.deepEqual(delays, [5, 30, 120, 600, 1_800, 3_600, 3_600])
})

test('Retry-After is obeyed up to one day', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  const waitFor = async (retryAfter: string) => {
    hooks.receiver.respond = respondWith(429, { 'retry-after': retryAfter })
    const before = (await getWebhook(id)).lastFailure?.at
    const count = hooks.receiver.received.length
    await makeDue()
    await waitForDeliveries(count + 1)
    await waitUntil(async () => {
      const row = await hooks.api.db.row<{ wait: number }>(
        sql`select extract(epoch from not_before - now())::float8 as wait from webhook where webhook_id = ${id}`,
      )
      return (row?.wait ?? 0) > 1
    }, `an attempt after ${before}`)
    const row = await hooks.api.db.row<{ wait: number }>(
      sql`select extract(epoch from not_before - now())::float8 as wait from webhook where webhook_id = ${id}`,
    )
    return row?.wait ?? 0
  }
  await createCustomers('Veronica')
  assert.ok(Math.abs((await waitFor('90')) - 90) < 3)
  assert.ok(Math.abs((await waitFor('999999')) - 86_400) < 3)
  assert.ok(Math.abs((await waitFor(new Date(Date.now() + 1_000_000).toUTCString())) - 1_000) < 4)
  assert.ok(Math.abs((await waitFor('soon')) - 600) < 3)
})

test('an endpoint that returns 410 is paused and continues when resumed', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  hooks.receiver.respond = respondWith(410)
  await createCustomers('Veronica')
  await waitUntil(async () => (await getWebhook(id)).state === 'paused', 'the webhook is paused')
  assert.equal((await getWebhook(id)).stateReason, 'The endpoint returned 410.')
  await waitUntil(() => /"msg":"webhook delivery rejected, webhook paused"/.test(hooks.logged), 'the pause is logged')
  assert.doesNotMatch(hooks.logged, /againInSeconds/)
  await createCustomers('John')
  hooks.receiver.respond = respondWith(204)
  const resumed = await post(hooks.api, `/webhooks/${id}/resume`, {})
  assert.equal(resumed.json.data.state, 'active')
  await waitForDeliveries(3)
  const names = parseChanges(hooks.receiver.received.slice(1)).length
  assert.equal(names, 2, 'no change may be lost')
})

test('a redirect counts as a failure and is not followed', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  hooks.receiver.respond = respondWith(302, { location: `${hooks.receiver.url}/elsewhere` })
  await createCustomers('Veronica')
  await waitUntil(async () => (await getWebhook(id)).lastFailure, 'the delivery fails')
  assert.equal((await getWebhook(id)).lastFailure.status, 302)
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hooks'],
  )
})

test('a tombstone is delivered and a deleted webhook receives nothing', async () => {
  const [customer] = await createCustomers('Veronica')
  const { id } = await createWebhook()
  const removed = await createWebhook({ url: `${hooks.receiver.url}/gone` })
  assert.equal((await remove(hooks.api, `/webhooks/${removed.id}`)).json.data.id, removed.id)
  assert.equal((await hooks.api.get(`/webhooks/${removed.id}`)).status, 404)
  startTestWorker()
  await hooks.api.db.run(sql`delete from customer where id = ${customer}`)
  await hooks.api.db.run(sql`
    insert into tombstone (service_id, kind, id, changed_at)
    select ${hooks.api.service.id}, 'customer', ${customer}, next_change_timestamp(${hooks.api.service.id}, null)`)
  await waitForDeliveries(1)
  assert.deepEqual(
    parseChanges(hooks.receiver.received).map(({ id: changedId, action }) => [changedId, action]),
    [[customer, 'removed']],
  )
  assert.equal(hooks.receiver.received[0]?.path, '/hooks')
  const changed = await put(hooks.api, `/webhooks/${id}`, {
    description: 'The search index',
    kinds: ['customer', 'store'],
  })
  assert.deepEqual(changed.json.data.kinds, ['store', 'customer'])
})

test('another endpoint is delivered immediately despite a waiting one', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  hooks.receiver.respond = respondWith(500, { 'retry-after': '3600' })
  const [customer] = await createCustomers('Veronica')
  await waitUntil(async () => (await getWebhook(id)).lastFailure, 'the delivery fails')
  hooks.receiver.respond = respondWith(204)
  await put(hooks.api, `/webhooks/${id}`, { description: 'Nothing else', url: hooks.receiver.url })
  const waiting = await hooks.api.db.run(sql`select from webhook where not_before > now() + interval '50 minutes'`)
  assert.equal(waiting, 1, 'an update without a new URL must not end the backoff')
  assert.equal((await put(hooks.api, `/webhooks/${id}`, { url: `${hooks.receiver.url}/moved` })).status, 200)
  await waitForDeliveries(2, 20_000)
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hooks', '/hooks/moved'],
  )
  assert.deepEqual(
    parseChanges(hooks.receiver.received.slice(1)).map(change => change.id),
    [customer],
  )
})
