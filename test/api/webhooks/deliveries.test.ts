import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../../client/src/webhooks.ts'
import { sql } from '../../../src/database/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { addShipment, createReturn, fillShop, getCreatedRecord, placeOrder } from '../../support/order-shop.ts'
import { getSignatureHeaders, parseChanges, respondWith } from '../../support/webhooks/receiver.ts'
import { post, put, remove } from '../../support/write.ts'
import { setUpHooks } from './hooks.ts'

const hooks = setUpHooks({ settings: { alertEmail: 'operations@luma.example' } })
const { begin, customers, makeDue, hook, received, shown, until } = hooks

test("a delivery's signature is verified by another Standard Webhooks implementation", async () => {
  begin()
  const { id, secret } = await hook()
  const [customer] = await customers('Veronica')
  await received(1)
  const [delivery] = hooks.receiver.received
  assert.ok(delivery)
  const verified = new Webhook(secret).verify(delivery.body, getSignatureHeaders(delivery)) as {
    type: string
    data: object
  }
  assert.equal(verified.type, 'records.changed')
  assert.deepEqual(await verifyWebhook(delivery.body, delivery.headers, secret), verified, 'and our client too')
  const { data, timestamp } = JSON.parse(delivery.body)
  assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000)
  assert.equal(data.service, hooks.api.service.name)
  assert.deepEqual(Object.keys(data.changes[0]), ['kind', 'id', 'action', 'changedAt', 'path'])
  assert.equal(data.changes[0].path, `/customers/${customer}`)
  assert.equal(delivery.headers['content-type'], 'application/json')
  assert.throws(() => new Webhook('whsec_AAAA').verify(delivery.body, getSignatureHeaders(delivery)))
  await until(async () => (await shown(id)).cursor === data.cursor, 'it stands where the delivery ended')
  const { state, lag, lastFailure, lastSuccessAt } = await shown(id)
  assert.deepEqual(
    { state, lag, lastFailure },
    { state: 'active', lag: { pendingSince: null, seconds: 0 }, lastFailure: null },
  )
  assert.ok(lastSuccessAt)
  const { json } = await hooks.api.get(`/changes?kinds=customer&after_cursor=${data.cursor}`)
  assert.deepEqual(json.data, [], 'its cursor is one of the sync')
})

test('shipments and returns are delivered to webhooks of their types', async () => {
  const { api } = hooks
  await fillShop(api.db, api.service)
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 1 }])
  const { secret } = await hook({ kinds: ['shipment', 'return'] })
  begin()
  const shipmentId = await addShipment(api, api, order.id)
  const created = getCreatedRecord(await createReturn(api, order.id, { 'HOOD-S': 1 }))
  const delivered = () => new Set(parseChanges(hooks.receiver.received).map(({ kind, id }) => `${kind} ${id}`))
  const expected = new Set([`shipment ${shipmentId}`, `return ${created.id}`])
  await until(() => delivered().size === expected.size, 'both changes are delivered')
  assert.deepEqual(delivered(), expected)
  for (const delivery of hooks.receiver.received) await verifyWebhook(delivery.body, delivery.headers, secret)
})

test('a webhook starts with new changes, or with everything if requested', async () => {
  const [first] = await customers('Veronica')
  await hook()
  const late = await hook({ fromBeginning: true, url: `${hooks.receiver.url}/all` })
  await hook({ kinds: ['store'], url: `${hooks.receiver.url}/stores` })
  begin()
  const [second] = await customers('John')
  const receivedIds = (path: string) =>
    new Set(parseChanges(hooks.receiver.received.filter(delivery => delivery.path === path)).map(change => change.id))
  // One endpoint may receive the changes in one delivery or in two.
  await until(() => receivedIds('/hooks/all').size === 2 && receivedIds('/hooks').size === 1, 'both webhooks get it')
  await until(async () => (await shown(late.id)).lag.pendingSince === null, 'all changes are delivered')
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
  const { id } = await hook({ fromBeginning: true, url: `${hooks.receiver.url}/before` })
  const paths = () => hooks.receiver.received.map(({ path }) => path)
  let moving: Promise<unknown> | undefined
  let countBefore = 0
  // The third delivery is answered once the url has changed.
  hooks.receiver.respond = async (_, response) => {
    if (paths().length === 3) {
      moving = put(hooks.api, `/webhooks/${id}`, { url: `${hooks.receiver.url}/behind` })
      await moving
      countBefore = paths().length
    }
    response.writeHead(204).end()
  }
  begin()
  await until(async () => moving && (await shown(id)).lag.pendingSince === null, 'all changes are delivered')
  assert.deepEqual(new Set(paths().slice(0, countBefore)), new Set(['/hooks/before']))
  assert.deepEqual(new Set(paths().slice(countBefore)), new Set(['/hooks/behind']))
  assert.equal(new Set(parseChanges(hooks.receiver.received).map(change => change.id)).size, 1_000)
})

test('a failed delivery is repeated unchanged except for time and signature', async () => {
  begin()
  const { id, secret } = await hook()
  hooks.receiver.respond = respondWith(500, {}, 'out of order')
  const [first] = await customers('Veronica')
  await received(1)
  const [second] = await customers('John')
  await until(async () => (await shown(id)).lastFailure !== null, 'the failure is shown')
  const { lastFailure, state } = await shown(id)
  assert.deepEqual({ ...lastFailure, at: '' }, { at: '', status: 500, detail: 'The endpoint returned 500.' })
  assert.equal(state, 'active')
  hooks.receiver.respond = respondWith(200, {}, 'ok')
  await makeDue()
  await received(3)
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
  await until(async () => (await shown(id)).lag.pendingSince === null, 'it is up to date')
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
  begin()
  const { id } = await hook()
  hooks.receiver.respond = respondWith(503)
  await customers('Veronica')
  const waits: number[] = []
  for (let attempt = 1; attempt <= 7; attempt++) {
    await received(attempt)
    const waiting = () =>
      hooks.api.db.row<{ wait: number; failures: number; due: number | null }>(sql`
        select extract(epoch from not_before - now())::float8 as wait, failures, extract(epoch from due_at - not_before)::float8 as due
          from webhook w left join job j on j.subject = w.webhook_id and j.lease is null where webhook_id = ${id}`)
    await until(async () => {
      const lag = await waiting()
      return lag?.failures === attempt && lag.due !== null
    }, 'the attempt is over')
    const lag = await waiting()
    assert.ok(Math.abs(lag?.due ?? 99) < 2, 'the job is due when the next attempt is')
    waits.push(Math.ceil(lag?.wait ?? 0))
    await makeDue()
  }
  assert.deepEqual(waits, [5, 30, 120, 600, 1_800, 3_600, 3_600])
})

test('Retry-After is obeyed up to one day', async () => {
  begin()
  const { id } = await hook()
  const waitFor = async (retryAfter: string) => {
    hooks.receiver.respond = respondWith(429, { 'retry-after': retryAfter })
    const before = (await shown(id)).lastFailure?.at
    const count = hooks.receiver.received.length
    await makeDue()
    await received(count + 1)
    await until(async () => {
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
  await customers('Veronica')
  assert.ok(Math.abs((await waitFor('90')) - 90) < 3)
  assert.ok(Math.abs((await waitFor('999999')) - 86_400) < 3)
  assert.ok(Math.abs((await waitFor(new Date(Date.now() + 1_000_000).toUTCString())) - 1_000) < 4)
  assert.ok(Math.abs((await waitFor('soon')) - 600) < 3)
})

test('an endpoint that returns 410 is paused and continues when resumed', async () => {
  begin()
  const { id } = await hook()
  hooks.receiver.respond = respondWith(410)
  await customers('Veronica')
  await until(async () => (await shown(id)).state === 'paused', 'it is paused')
  assert.equal((await shown(id)).stateReason, 'The endpoint returned 410.')
  await until(() => /"msg":"webhook delivery rejected, webhook paused"/.test(hooks.logged), 'it is logged')
  assert.doesNotMatch(hooks.logged, /againInSeconds/)
  await customers('John')
  hooks.receiver.respond = respondWith(204)
  const resumed = await post(hooks.api, `/webhooks/${id}/resume`, {})
  assert.equal(resumed.json.data.state, 'active')
  await received(3)
  const names = parseChanges(hooks.receiver.received.slice(1)).length
  assert.equal(names, 2, 'nothing is lost')
})

test('a redirect counts as a failure and is not followed', async () => {
  begin()
  const { id } = await hook()
  hooks.receiver.respond = respondWith(302, { location: `${hooks.receiver.url}/elsewhere` })
  await customers('Veronica')
  await until(async () => (await shown(id)).lastFailure, 'it has failed')
  assert.equal((await shown(id)).lastFailure.status, 302)
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hooks'],
  )
})

test('a tombstone is delivered and a deleted webhook receives nothing', async () => {
  const [customer] = await customers('Veronica')
  const { id } = await hook()
  const removed = await hook({ url: `${hooks.receiver.url}/gone` })
  assert.equal((await remove(hooks.api, `/webhooks/${removed.id}`)).json.data.id, removed.id)
  assert.equal((await hooks.api.get(`/webhooks/${removed.id}`)).status, 404)
  begin()
  await hooks.api.db.run(sql`delete from customer where id = ${customer}`)
  await hooks.api.db.run(sql`
    insert into tombstone (service_id, kind, id, changed_at)
    select ${hooks.api.service.id}, 'customer', ${customer}, next_change_timestamp(${hooks.api.service.id}, null)`)
  await received(1)
  assert.deepEqual(
    parseChanges(hooks.receiver.received).map(({ id: of, action }) => [of, action]),
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
  begin()
  const { id } = await hook()
  hooks.receiver.respond = respondWith(500, { 'retry-after': '3600' })
  const [customer] = await customers('Veronica')
  await until(async () => (await shown(id)).lastFailure, 'it fails')
  hooks.receiver.respond = respondWith(204)
  await put(hooks.api, `/webhooks/${id}`, { description: 'Nothing else', url: hooks.receiver.url })
  const waiting = await hooks.api.db.rows(sql`select from webhook where not_before > now() + interval '50 minutes'`)
  assert.equal(waiting.length, 1, 'who stays where they are waits on')
  assert.equal((await put(hooks.api, `/webhooks/${id}`, { url: `${hooks.receiver.url}/moved` })).status, 200)
  await received(2, 20_000)
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hooks', '/hooks/moved'],
  )
  assert.deepEqual(
    parseChanges(hooks.receiver.received.slice(1)).map(change => change.id),
    [customer],
  )
})
