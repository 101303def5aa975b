import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sql } from '../../../src/database/db.ts'
import { jobs } from '../../../src/jobs/jobs.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { getSignatureHeaders, parseChanges, respondWith } from '../../support/webhooks/receiver.ts'
import { post, put } from '../../support/write.ts'
import { setUpWebhooks } from './hooks.ts'

const hooks = setUpWebhooks({ settings: { alertEmail: 'operations@luma.example' } })
const { startTestWorker, createCustomers, makeDue, createWebhook, waitForDeliveries, getWebhook, waitUntil } = hooks
const isUpToDate = async (id: string) => (await getWebhook(id)).lag.pendingSince === null
const buildCustomers = (from: number, to: number, firstname: string) =>
  Array.from({ length: to - from }, (_, i) => ({ id: `c${from + i}`, firstname, surname: 'Smith' }))

test('an endpoint failing for a week is reported, then catches up gently', async () => {
  startTestWorker(hooks.api, { 'send-alert': jobs['send-alert'] })
  const { id } = await createWebhook()
  hooks.receiver.respond = respondWith(500)
  const [first] = await createCustomers('Veronica')
  await waitForDeliveries(1)
  await waitUntil(async () => (await getWebhook(id)).lastFailure, 'a delivery fails')
  assert.equal((await getWebhook(id)).state, 'active')
  await hooks.api.db.run(sql`
    update webhook set failing_since = failing_since - interval '7 days', pending_since = pending_since - interval '7 days'`)
  await waitUntil(async () => (await getWebhook(id)).state === 'failing', 'the webhook is failing')
  const { stateReason, lag } = await getWebhook(id)
  assert.match(stateReason, /^Deliveries have failed since \d{4}-/)
  assert.ok(lag.seconds >= 7 * 86_400)
  const alerts = await hooks.api.db.rows(sql`select kind, subject, detail from alert`)
  assert.deepEqual(
    alerts.map(({ kind, subject }: { kind?: string; subject?: string }) => [kind, subject]),
    [['webhook_failing', id]],
  )
  await waitUntil(() => hooks.emails.length, 'an email is sent')
  assert.match(hooks.emails[0] ?? '', /^To: .*operations@luma\.example/m)
  assert.match(
    (hooks.emails[0] ?? '').replace(/=\r\n/g, ''),
    new RegExp(`The webhook ${id} \\(127\\.0\\.0\\.1:\\d+\\) has failed since`),
  )

  assert.match(hooks.emails[0] ?? '', /^Subject: \[Tillbridge\] /m)

  // The changes of a week: some records change several times.
  for (const round of ['Ann', 'Bea', 'Eve'])
    await upsertCustomers(hooks.api.db, hooks.api.service, buildCustomers(0, 500, round))
  await upsertCustomers(hooks.api.db, hooks.api.service, buildCustomers(500, 1_400, 'Zoe'))
  hooks.receiver.respond = respondWith(204)
  hooks.receiver.received.length = 0
  await makeDue()
  await waitUntil(() => isUpToDate(id), 'the webhook has caught up', 30_000)
  const [repeated, ...more] = hooks.receiver.received
  assert.deepEqual(
    parseChanges(repeated ? [repeated] : []).map(change => change.id),
    [first],
  )
  const changes = parseChanges(more)
  assert.deepEqual(
    changes.map(change => change.id).sort(),
    buildCustomers(0, 1_400, '')
      .map(delivery => delivery.id)
      .sort(),
  )
  assert.deepEqual(
    changes.map(({ changedAt }) => changedAt),
    changes.map(({ changedAt }) => changedAt).sort(),
  )
  assert.equal(more.length, 14)
  const gaps = more.slice(1).map(({ at }, i) => at - (more[i]?.at ?? 0))
  assert.ok(
    gaps.every(gap => gap >= 95),
    `the deliveries are too fast: ${gaps}`,
  )
  assert.equal((await getWebhook(id)).state, 'active')
  assert.equal(hooks.emails.length, 1, 'one email is sent')
  assert.deepEqual(await hooks.api.db.rows(sql`select from alert`), [], 'the alert is resolved')
  const { secret: _, ...fields } = await getWebhook(id)
  assert.equal(fields.stateReason, null)
})

test('resuming or deleting an endpoint resolves its alert', async () => {
  const listAlerts = async () =>
    (await hooks.api.get('/alerts')).json.data.map(({ subject }: { subject: string }) => subject)
  const [resumed, removed] = [await createWebhook(), await createWebhook()]
  for (const { id } of [resumed, removed])
    await raiseAlert(hooks.api.db, hooks.api.service.id, { kind: 'webhook_failing', subject: id, detail: '' })
  assert.deepEqual((await listAlerts()).sort(), [resumed.id, removed.id].sort())
  await post(hooks.api, `/webhooks/${resumed.id}/pause`, {})
  assert.equal((await post(hooks.api, `/webhooks/${resumed.id}/resume`, {})).status, 200)
  assert.deepEqual(await listAlerts(), [removed.id])
  assert.equal((await hooks.api.request(`/webhooks/${removed.id}`, { method: 'DELETE' })).status, 200)
  assert.deepEqual(await listAlerts(), [])
})

test('an endpoint that has caught up is delivered at full speed', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  await upsertCustomers(hooks.api.db, hooks.api.service, buildCustomers(0, 3_000, 'Ann'))
  await waitUntil(
    async () => hooks.receiver.received.length >= 30 && (await isUpToDate(id)),
    'all changes are delivered',
    30_000,
  )
  const [first, ...later] = hooks.receiver.received
  assert.ok(
    (later.at(-1)?.at ?? 0) - (first?.at ?? 0) < 29 * 100,
    'an endpoint that never failed must have no pace limit',
  )
  assert.ok(hooks.receiver.received.every(({ body }) => Buffer.byteLength(body) <= 20_000))
})

test('both secrets sign for 24 hours after a rotation without lost deliveries', async () => {
  startTestWorker()
  const { id, secret: oldSecret } = await createWebhook()
  hooks.receiver.respond = respondWith(500)
  await createCustomers('Veronica')
  await waitForDeliveries(1)
  const rotated = await post(hooks.api, `/webhooks/${id}/rotate-secret`, {})
  const { secret } = rotated.json.data
  assert.notEqual(secret, oldSecret)
  hooks.receiver.respond = respondWith(204)
  await makeDue()
  await waitForDeliveries(2)
  const [before, during] = hooks.receiver.received
  assert.ok(before && during)
  new Webhook(oldSecret).verify(before.body, getSignatureHeaders(before))
  assert.throws(() => new Webhook(secret).verify(before.body, getSignatureHeaders(before)))
  for (const key of [oldSecret, secret]) new Webhook(key).verify(during.body, getSignatureHeaders(during))
  assert.equal(during.headers['webhook-id'], before.headers['webhook-id'])
  await hooks.api.db.run(sql`update webhook set previous_until = now()`)
  await createCustomers('John')
  await waitForDeliveries(3)
  const [, , later] = hooks.receiver.received
  assert.ok(later)
  new Webhook(secret).verify(later.body, getSignatureHeaders(later))
  assert.throws(() => new Webhook(oldSecret).verify(later.body, getSignatureHeaders(later)))
})

test('a rewind repeats deliveries from the beginning, a time or a cursor', async () => {
  startTestWorker()
  const { id, cursor } = await createWebhook()
  const [first] = await createCustomers('Veronica')
  await waitForDeliveries(1)
  await waitUntil(() => isUpToDate(id), 'the webhook is up to date')
  const between = parseChanges(hooks.receiver.received)[0]?.changedAt ?? ''
  const [second] = await createCustomers('John')
  await waitForDeliveries(2)
  const rewindAndList = async (to: string) => {
    await waitUntil(() => isUpToDate(id), 'the webhook is up to date')
    const count = hooks.receiver.received.length
    const response = await post(hooks.api, `/webhooks/${id}/rewind`, { to })
    assert.equal(response.status, 200, response.text)
    await waitForDeliveries(count + 1)
    await waitUntil(() => isUpToDate(id), 'the webhook is up to date')
    return parseChanges(hooks.receiver.received.slice(count)).map(change => change.id)
  }
  assert.deepEqual(await rewindAndList('beginning'), [first, second])
  assert.deepEqual(await rewindAndList(cursor), [first, second])
  assert.deepEqual(await rewindAndList(between), [first, second], 'changes of exactly that time are sent again')
  assert.deepEqual(await rewindAndList(parseChanges(hooks.receiver.received).at(-1)?.changedAt ?? ''), [second])
  const other = await createWebhook({ kinds: ['store'] })
  for (const to of ['yesterday', other.cursor, '2999-01-01', `${cursor}x`]) {
    const { status, json } = await post(hooks.api, `/webhooks/${id}/rewind`, { to })
    assert.deepEqual([status, json.code, json.errors[0].pointer], [422, 'invalid_field', '/to'], to)
  }
})

test('a paused webhook receives everything once resumed', async () => {
  startTestWorker()
  const { id } = await createWebhook()
  const paused = await post(hooks.api, `/webhooks/${id}/pause`, {})
  assert.deepEqual([paused.json.data.state, paused.json.data.stateReason], ['paused', 'Paused by an operator.'])
  const ids = await createCustomers('Veronica', 'John')
  const other = await createWebhook({ url: `${hooks.receiver.url}/other` })
  ids.push(...(await createCustomers('Ann')))
  await waitForDeliveries(1)
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hooks/other'],
  )
  await waitUntil(() => isUpToDate(other.id), 'the other webhook is up to date')
  await post(hooks.api, `/webhooks/${id}/resume`, {})
  await waitForDeliveries(2)
  assert.deepEqual(
    parseChanges(hooks.receiver.received.slice(1)).map(change => change.id),
    ids,
  )
})

test('added record types start now and other types continue', async () => {
  const { id } = await createWebhook()
  const [first] = await createCustomers('Veronica')
  const changed = await put(hooks.api, `/webhooks/${id}`, { kinds: ['store', 'customer'] })
  assert.equal(changed.status, 200, changed.text)
  startTestWorker()
  await waitForDeliveries(1)
  assert.deepEqual(
    parseChanges(hooks.receiver.received).map(change => change.id),
    [first],
  )
})

test('an endpoint that is down longer than tombstones are kept is paused', async () => {
  const [first] = await createCustomers('Veronica')
  const { id } = await createWebhook()
  await hooks.api.db.run(sql`
    insert into tombstone_purge (service_id, kind, purged_until) values (${hooks.api.service.id}, 'customer', now() + interval '1 second')`)
  await createCustomers('John')
  startTestWorker()
  await waitUntil(async () => (await getWebhook(id)).state === 'paused', 'the webhook is paused')
  assert.match((await getWebhook(id)).stateReason, /Rewind the webhook to the beginning/)
  assert.deepEqual(await hooks.api.db.rows(sql`select kind from alert`), [{ kind: 'webhook_expired' }])
  assert.equal((await post(hooks.api, `/webhooks/${id}/rewind`, { to: '2020-01-01' })).json.code, 'cursor_expired')
  await post(hooks.api, `/webhooks/${id}/rewind`, { to: 'beginning' })
  await post(hooks.api, `/webhooks/${id}/resume`, {})
  await waitForDeliveries(1)
  assert.ok(parseChanges(hooks.receiver.received).some(change => change.id === first))
  await hooks.api.db.run(sql`delete from tombstone_purge`)
})

test('an endpoint can be tested manually, even while paused', async () => {
  const { id, secret } = await createWebhook()
  await post(hooks.api, `/webhooks/${id}/pause`, {})
  hooks.receiver.respond = respondWith(418, {}, 'I am a teapot')
  const { status, json } = await post(hooks.api, `/webhooks/${id}/test`, {})
  assert.equal(status, 200)
  const { status: responseStatus, detail, response, changes } = json.data
  assert.deepEqual([responseStatus, detail, response, changes], [418, 'The endpoint returned 418.', 'I am a teapot', 0])
  const [delivery] = hooks.receiver.received
  assert.ok(delivery)
  const { type } = new Webhook(secret).verify(delivery.body, getSignatureHeaders(delivery)) as { type: string }
  assert.equal(type, 'webhook.test')
  await post(hooks.api, `/webhooks/${id}/test`, {}, { prefer: 'tx=rollback' })
  assert.equal(hooks.receiver.received.length, 1, 'a dry run must send nothing')
  assert.equal((await hooks.api.get(`/webhooks/${id}/attempts`)).json.data.length, 1)
})

test('webhooks belong to one service and are limited to its admins', async () => {
  const { id } = await createWebhook()
  const other = await hooks.api.createService()
  for (const path of [`/webhooks/${id}`, `/webhooks/${id}/attempts`])
    assert.equal((await other.get(path)).json.code, 'not_found')
  for (const action of ['test', 'pause', 'resume', 'rotate-secret'])
    assert.equal((await post(other, `/webhooks/${id}/${action}`, {})).json.code, 'not_found')
  assert.deepEqual((await other.get('/webhooks')).json.data, [])
  const maintainer = await hooks.api.createAccount('maintainer')
  assert.equal((await maintainer.get('/webhooks')).json.code, 'insufficient_role')
})

test('attempts are purged after 30 days', async () => {
  const { id } = await createWebhook()
  for (let i = 0; i < 2; i++) await post(hooks.api, `/webhooks/${id}/test`, {})
  await hooks.api.db.run(sql`
    update webhook_attempt set changed_at = now() - interval '31 days' where attempt_id = (select min(attempt_id) from webhook_attempt)`)
  startTestWorker(hooks.api, { 'purge-expired': jobs['purge-expired'] })
  await waitUntil(
    async () => (await hooks.api.get(`/webhooks/${id}/attempts`)).json.data.length === 1,
    'the old attempt is purged',
  )
})
