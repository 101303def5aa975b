import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { upsertReferences } from '../../../src/store/catalog/references.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { waitUntil } from '../../support/processes.ts'
import { buildCredentials } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

const api = await startTestApi()
after(() => api.stop())

test('a settings change on one server applies to another within 5 seconds', async () => {
  const caller = await api.createService()
  const other = await startTestApi({ sharedWith: api })
  try {
    const getFromOther = (path: string) => other.sendRaw(path, { headers: buildCredentials(caller) })
    const getTimeZone = async () => (await getFromOther('/stores')).json?.meta?.timeZone
    assert.equal(await getTimeZone(), 'UTC')
    await put(caller, '/settings', { timeZone: 'Asia/Kolkata' })
    assert.equal(
      (await getFromOther('/settings')).json.data.timeZone,
      'Asia/Kolkata',
      'the settings must be current immediately',
    )
    await waitUntil(async () => (await getTimeZone()) === 'Asia/Kolkata', 'the setting applies', 5_000)
    await put(caller, '/settings', { readsPerMinute: 1 })
    await waitUntil(async () => (await getFromOther('/stores')).status === 429, 'the setting applies', 5_000)
  } finally {
    await other.stop()
  }
})

test('a new time zone changes the wall-clock times of records and audit', async () => {
  const caller = await api.createService({ timeZone: 'Australia/Melbourne' })
  await upsertCustomers(api.db, caller.service, [{ id: '1', firstname: 'Ann' }])
  await put(caller, '/settings', { retailerName: 'Luma' })
  const getLocalTimes = async () => {
    const [customer] = (await caller.get('/customers/search')).json.data
    const entries = (await caller.get('/audit')).json.data
    return { customer: customer.updateTimeStamp, audit: entries.map((entry: { at: string }) => entry.at) }
  }
  const before = await getLocalTimes()
  assert.equal(before.audit.length, 1)
  await put(caller, '/settings', { timeZone: 'Asia/Kolkata' })
  const current = await getLocalTimes()
  const instants = await api.db.rows<{ at: string }>(sql`
    select to_char(changed_at at time zone 'Asia/Kolkata', 'YYYY-MM-DD HH24:MI:SS') as at from audit
     where service_id = ${caller.service.id} order by changed_at`)
  assert.equal(instants.length, 2)
  assert.deepEqual(
    current.audit,
    instants.map(({ at }) => at),
  )
  assert.notEqual(current.customer, before.customer)
  assert.notEqual(current.audit[0], before.audit[0])
  const newest = (await caller.get('/audit')).json.data[0]
  assert.deepEqual(
    [newest.username, newest.operation, newest.fields],
    [caller.username, 'PUT /settings', ['retailerName']],
  )
})

test('after a time zone change, rows are still compared by instant', async () => {
  const caller = await api.createService({ timeZone: 'UTC' })
  const context = { actor: { username: 'ann', requestId: '1' }, skipOutdated: true }
  const load = (to: Service, surname: string, updateTimeStamp: string) =>
    upsertCustomers(api.db, to, [{ id: '1', surname, updateTimeStamp }], context)
  await load(caller.service, 'Known', '2026-05-01 10:00:00')
  await put(caller, '/settings', { timeZone: 'Australia/Melbourne' })
  const service = { ...caller.service, settings: { ...caller.service.settings, timeZone: 'Australia/Melbourne' } }
  assert.deepEqual(await load(service, 'Older', '2026-05-01 19:00:00'), { inserted: 0, changed: 0, outdated: 1 })
  assert.deepEqual(await load(service, 'Newer', '2026-05-01 21:00:00'), { inserted: 0, changed: 1, outdated: 0 })
})

test('capabilities name the settings that block them', async () => {
  const caller = await api.createService({ backOfficeVersion: '2021.3', returnReasons: [], giftCardSku: 'GIFTCARD' })
  const listReasons = async () => {
    const { json } = await caller.get('/capabilities')
    const all: { name: string; available: boolean; reason?: string }[] = json.data.capabilities
    for (const { available, reason } of all) assert.equal(reason === undefined, available)
    return Object.fromEntries(all.flatMap(({ name, reason }) => (reason ? [[name, reason]] : [])))
  }
  await upsertReferences(
    api.db,
    caller.service,
    ['4411', '4412'].map(referenceValueId => ({ type: 'newsletter', referenceValueId, name: referenceValueId })),
  )
  const reasons = await listReasons()
  assert.deepEqual(Object.keys(reasons).sort(), [
    'coupons',
    'customersUpdatedAfter',
    'emailSender',
    'emailSubscriptionMapping',
    'freightOptions',
    'liveStock',
    'paymentGateways',
    'priceChanges',
    'returns',
    'smsSubscriptionMapping',
    'vouchersIssue',
  ])
  assert.match(String(reasons.vouchersIssue), /`vouchersEnabled`.*`voucherType`/)
  assert.doesNotMatch(String(reasons.vouchersIssue), /`giftCardSku` must be set/)
  assert.match(String(reasons.vouchersIssue), /SKU `GIFTCARD` of the setting `giftCardSku` isn't in the back office/)
  await put(caller, '/settings', {
    backOfficeVersion: '2022.1',
    returnReasons: [{ code: 'SMALL', name: 'Too small' }],
    subscriptionMapping: { email: { type: 'newsletter', yes: '4411', no: '4412' } },
    emailSender: 'gifts@luma.example',
    vouchersEnabled: true,
    voucherType: 'DIGITAL',
    gateways: ['paypal', 'visa'],
    readsPerMinute: 'off',
  })
  await waitUntil(async () => Object.keys(await listReasons()).length === 6, 'the setting applies', 5_000)
  // No product has the SKU. The embedded back office never has the first four capabilities.
  assert.deepEqual(Object.keys(await listReasons()).sort(), [
    ...(['coupons', 'freightOptions', 'liveStock', 'priceChanges', 'smsSubscriptionMapping', 'vouchersIssue'] as const),
  ])
})
