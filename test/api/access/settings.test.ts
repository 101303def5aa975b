import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { upsertReferences } from '../../../src/store/catalog/references.ts'
import { importAndWait } from '../../support/import-and-wait.ts'
import { fillShop } from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'

import { type Caller, startTestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

const api = await startTestApi()
after(() => api.stop())

const expectedDefaults = { ...defaultSettings, gateways: [] }
const getSettings = async (caller: Caller) => (await caller.get('/settings')).json.data

const allSettings = {
  retailerName: 'Luma',
  timeZone: 'Australia/Melbourne',
  currency: 'AUD',
  inventoryBuffer: 2,
  fulfilment: 'manual',
  allocated: 'included',
  oversell: 'refuse',
  returnReasons: [{ code: 'SMALL', name: 'Too small' }],
  defaultReturnReason: 'SMALL',
  vouchersEnabled: true,
  giftCardSku: 'GIFTCARD',
  voucherType: 'DIGITAL',
  voucherValidityMonths: 24,
  requireFullRedemption: true,
  voucherGateway: 'visa',
  emailSender: 'gifts@luma.example',
  logoUrl: 'https://luma.example/logo.png',
  brandColour: '#7a1f3d',
  shopUrl: 'https://luma.example/gift-vouchers',
  supportEmail: 'help@luma.example',
  alertEmail: 'operations@luma.example',
  subscriptionMapping: { email: { type: 'newsletter', yes: '4411', no: '4412' } },
  referenceTypes: ['favouriteStore', 'newsletter'],
  backOfficeVersion: '2022.1',
  requireIfMatch: false,
  requireIdempotencyKey: true,
  tombstoneRetentionDays: 30,
  requestLogRetentionDays: 14,
  readsPerMinute: 'off',
  writesPerMinute: 500,
  gateways: ['paypal', 'visa'],
}

/** Creates a service with the reference values that the tests map. */
async function createServiceWithReferences() {
  const caller = await api.createService()
  const values = { newsletter: ['4411', '4412'], news: ['1', '2', '3', '4'] }
  const references = Object.entries(values).flatMap(([type, ids]) =>
    ids.map(referenceValueId => ({ type, referenceValueId, name: referenceValueId })),
  )
  await upsertReferences(api.db, caller.service, references)
  return caller
}

test('a partial settings change keeps the omitted settings', async () => {
  const caller = await createServiceWithReferences()
  assert.deepEqual(await getSettings(caller), expectedDefaults)
  assert.deepEqual(Object.keys(allSettings).sort(), Object.keys(expectedDefaults).sort())
  const { status, json } = await put(caller, '/settings', allSettings)
  assert.deepEqual([status, json], [200, { data: allSettings }])
  assert.deepEqual(await getSettings(caller), allSettings)
  assert.deepEqual((await put(caller, '/settings', { voucherType: 'CARD' })).json.data, {
    ...allSettings,
    voucherType: 'CARD',
  })
  assert.deepEqual((await put(caller, '/settings', {})).json.data, { ...allSettings, voucherType: 'CARD' })
  assert.deepEqual((await caller.get('/payment-gateways')).json.data, ['paypal', 'visa'])
})

test('a list with too many entries of a wrong type is rejected', async () => {
  for (const entry of [null, 1, 'SMALL', [], {}]) {
    const body = JSON.stringify({ returnReasons: Array(200).fill(entry) })
    const headers = { 'content-type': 'application/json', 'if-match': '*' }
    const { status, json } = await api.request('/settings', { method: 'PUT', headers, body })
    assert.deepEqual([status, json.code, json.errors.length], [422, 'invalid_field', 1], JSON.stringify(entry))
  }
})

test('null resets a setting to its default', async () => {
  const caller = await createServiceWithReferences()
  await put(caller, '/settings', allSettings)
  const names = ['currency', 'gateways', 'emailSender', 'returnReasons', 'defaultReturnReason'] as const
  const reset = await put(caller, '/settings', Object.fromEntries(names.map(name => [name, null])))
  const defaults = Object.fromEntries(names.map(name => [name, expectedDefaults[name]]))
  assert.deepEqual(reset.json.data, { ...allSettings, ...defaults })
  const all = Object.fromEntries(Object.keys(allSettings).map(name => [name, null]))
  assert.deepEqual((await put(caller, '/settings', all)).json.data, expectedDefaults)
})

test('a subscription mapping can name only references that exist', async () => {
  const caller = await createServiceWithReferences()
  const email = { type: 'newsletter', yes: '4411', no: '4412' }
  for (const [mapping, pointers, detail] of [
    [{ email: { ...email, type: 'mails' } }, ['email/type'], 'Reference type mails not found.'],
    [{ email: { ...email, yes: '1', no: '2' } }, ['email/yes', 'email/no'], 'Value 1 of the reference type newsletter'],
    [{ email, sms: { type: 'sms', yes: '1', no: '2' } }, ['sms/type'], 'Reference type sms not found.'],
  ] as const) {
    const response = await put(caller, '/settings', { subscriptionMapping: mapping })
    assertProblem(response, 'invalid_field', api.baseUrl, '/settings')
    assert.deepEqual(
      response.json.errors.map(({ pointer }: { pointer: string }) => pointer),
      pointers.map(pointer => `/subscriptionMapping/${pointer}`),
    )
    assert.ok(getErrorDetails(response)[0]?.startsWith(detail), response.text)
  }
  assert.deepEqual((await getSettings(caller)).subscriptionMapping, {})
  assert.equal((await put(caller, '/settings', { subscriptionMapping: { email } })).status, 200)
  const findCapability = async () => {
    const { json } = await caller.get('/capabilities')
    return json.data.capabilities.find(({ name }: { name: string }) => name === 'emailSubscriptionMapping')
  }
  await waitUntil(async () => (await findCapability()).available, 'the mapping applies', 5_000)
  await api.db.run(sql`delete from reference where service_id = ${caller.service.id} and reference_value_id = '4412'`)
  const reason = 'Value 4412 of the reference type newsletter not found. Import or sync the references first.'
  assert.deepEqual(await findCapability(), { name: 'emailSubscriptionMapping', available: false, reason })
})

test('a currency change needs confirmation if the service has amounts', async () => {
  const caller = await api.createService({ currency: 'AUD' })
  assert.equal((await put(caller, '/settings', { currency: 'EUR' })).json.meta, undefined, 'nothing to convert')
  await fillShop(api.db, caller.service)
  const rejected = await put(caller, '/settings', { currency: 'NZD', retailerName: 'Luma' })
  assertProblem(rejected, 'invalid_field', api.baseUrl, '/settings')
  assert.deepEqual([rejected.json.errors.length, rejected.json.errors[0].pointer], [1, '/currency'])
  assert.match(rejected.json.errors[0].detail, /has products\. No amount is converted.*`confirmCurrencyChange: true`/)
  assert.equal((await getSettings(caller)).retailerName, 'Tillbridge')
  assert.equal((await put(caller, '/settings', { currency: null })).status, 422, 'the default is another currency')
  for (const same of [{ currency: 'EUR' }, { confirmCurrencyChange: true }, { confirmCurrencyChange: false }])
    assert.deepEqual((await put(caller, '/settings', same)).json, { data: await getSettings(caller) })
  const body = { currency: 'NZD', confirmCurrencyChange: true }
  const dryRun = await put(caller, '/settings', body, { prefer: 'tx=rollback' })
  const changed = await put(caller, '/settings', body)
  assert.equal(changed.status, 200)
  assert.deepEqual(dryRun.json, changed.json)
  const [warning] = changed.json.meta.warnings
  assert.equal(warning.code, 'amounts_not_converted')
  assert.match(warning.detail, /prices and rewards are shown in NZD, while orders, sales and vouchers keep EUR/)
  assert.equal((await getSettings(caller)).currency, 'NZD')
})

test('the default return reason must be one of the configured reasons', async () => {
  const caller = await createServiceWithReferences()
  await put(caller, '/settings', allSettings)
  const otherReasons = { returnReasons: [{ code: 'LARGE', name: 'Too large' }] }
  const response = await put(caller, '/settings', otherReasons)
  assertProblem(response, 'invalid_field', api.baseUrl, '/settings')
  assert.equal(response.json.errors[0].pointer, '/returnReasons')
  assert.deepEqual(await getSettings(caller), allSettings)
  assert.equal((await put(caller, '/settings', { ...otherReasons, defaultReturnReason: 'LARGE' })).status, 200)
})

test('a list of gateways replaces the previous list in the given order', async () => {
  const caller = await api.createService()
  await put(caller, '/settings', { gateways: ['visa', 'cash', 'Überweisung'] })
  assert.deepEqual((await getSettings(caller)).gateways, ['cash', 'visa', 'Überweisung'])
  await put(caller, '/settings', { gateways: ['paypal', 'cash'] })
  assert.deepEqual((await caller.get('/payment-gateways')).json.data, ['cash', 'paypal'])
  assert.deepEqual((await getSettings(api)).gateways, [], 'gateways of another service')
})

test('every error of a settings change is located and nothing is changed', async () => {
  const caller = await createServiceWithReferences()
  const invalid: [name: string, value: unknown, pointers?: string[]][] = [
    ['retailerName', ''],
    ['retailerName', 'x'.repeat(101)],
    ['timeZone', 'Australia/Melborne'],
    ['timeZone', '+10:00'],
    ['currency', 'AUX'],
    ['currency', 'aud'],
    ['backOfficeVersion', 'new'],
    ['inventoryBuffer', -1],
    ['inventoryBuffer', 1_000_001],
    ['fulfilment', 'later'],
    ['voucherValidityMonths', 0],
    ['emailSender', 'gifts'],
    ['logoUrl', 'http://luma.example/logo.png'],
    ['shopUrl', 'https://ann:secret@luma.example/'],
    ['brandColour', 'green'],
    ['supportEmail', 'help'],
    ['giftCardSku', ''],
    ['readsPerMinute', 0],
    ['referenceTypes', ['Newsletter', 'a', 'a'], ['/referenceTypes/0', '/referenceTypes/2']],
    ['gateways', ['visa', '', 'x'.repeat(51), 'visa'], ['/gateways/1', '/gateways/2', '/gateways/3']],
    ['gateways', ['a\u0007'], ['/gateways/0']],
    ['returnReasons', [{ code: '', name: 'Faulty' }], ['/returnReasons/0/code']],
    ['subscriptionMapping', { email: { type: 'news', yes: '1', no: '1' } }, ['/subscriptionMapping/email/no']],
    [
      'subscriptionMapping',
      { email: { type: 'news', yes: '1', no: '2' }, sms: { type: 'news', yes: '3', no: '4' } },
      ['/subscriptionMapping/sms/type'],
    ],
    ['defaultReturnReason', 'BORED'],
    ['returnReasons', ['A', 'B', 'A'].map(code => ({ code, name: 'Faulty' })), ['/returnReasons/2/code']],
  ]
  for (const [name, value, pointers = [`/${name}`]] of invalid) {
    const response = await put(caller, '/settings', { [name]: value, requireFullRedemption: true })
    assertProblem(response, 'invalid_field', api.baseUrl, '/settings')
    assert.deepEqual(
      response.json.errors.map((error: { pointer: string }) => error.pointer),
      pointers,
      JSON.stringify(value),
    )
  }
  const malformed: [name: string, value: unknown, pointer?: string][] = [
    ['colour', 'red'],
    ['__proto__x', 1],
    ['retailerName', 5],
    ['vouchersEnabled', 'true'],
    ['inventoryBuffer', 1.5],
    ['inventoryBuffer', '1'],
    ['readsPerMinute', 'none'],
    ['gateways', 'visa'],
    ['gateways', [1], '/gateways/0'],
    ['returnReasons', [{ code: 'A' }], '/returnReasons/0/name'],
    ['subscriptionMapping', { email: { type: 'a', yes: '1' } }, '/subscriptionMapping/email/no'],
    ['subscriptionMapping', { post: {} }, '/subscriptionMapping/post'],
  ]
  for (const [name, value, pointer = `/${name}`] of malformed) {
    const response = await put(caller, '/settings', { [name]: value, currency: 'AUX' })
    assertProblem(response, 'invalid_body', api.baseUrl, '/settings')
    assert.deepEqual(
      response.json.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code]),
      [
        [pointer, 'invalid_body'],
        ['/currency', 'invalid_field'],
      ],
      JSON.stringify(value),
    )
  }
  assert.deepEqual(await getSettings(caller), expectedDefaults)
})

test('errors of single settings and of combined rules are reported together', async () => {
  const caller = await api.createService()
  const getPointers = async (change: object) =>
    (await put(caller, '/settings', change)).json.errors.map(({ pointer }: { pointer: string }) => pointer)
  const reasons = {
    returnReasons: [
      { code: 'A', name: 'a' },
      { code: 'A', name: 'b' },
    ],
    defaultReturnReason: 'ZZ',
  }
  const rulePointers = ['/returnReasons/1/code', '/defaultReturnReason']
  assert.deepEqual(await getPointers({ timeZone: 'Mars/X', ...reasons }), ['/timeZone', ...rulePointers])
  assert.deepEqual(await getPointers(reasons), rulePointers)
  assert.deepEqual(await getPointers({ colour: 'red', returnReasons: [1], defaultReturnReason: 'ZZ' }), [
    '/colour',
    '/returnReasons/0',
  ])
})

test('only an admin can read or change settings', async () => {
  for (const role of ['visitor', 'maintainer'] as const) {
    const other = await api.createAccount(role)
    assertProblem(await other.get('/settings'), 'insufficient_role', api.baseUrl, '/settings')
    assertProblem(await put(other, '/settings', { currency: 'AUD' }), 'insufficient_role', api.baseUrl, '/settings')
  }
  assert.equal((await getSettings(api)).currency, 'USD')
})

test('a settings change requires the version named in If-Match', async () => {
  const caller = await api.createService()
  const { headers } = await caller.get('/settings')
  const changed = await put(caller, '/settings', { gateways: ['cash'] }, { 'if-match': headers.etag })
  assert.equal(changed.status, 200)
  assert.notEqual(changed.headers.etag, headers.etag)
  const stale = await put(caller, '/settings', { currency: 'AUD' }, { 'if-match': headers.etag })
  assertProblem(stale, 'precondition_failed', api.baseUrl, '/settings')
  const again = await caller.get('/settings', { 'if-none-match': changed.headers.etag })
  assert.equal(again.status, 304, 'a change and a read must return the same ETag')
  assert.equal((await put(caller, '/settings', { currency: 'AUD' }, { 'if-match': '*' })).status, 200)
  await put(caller, '/settings', { requireIfMatch: true })
  await waitUntil(
    async () => (await put(caller, '/settings', { currency: 'NZD' })).status === 428,
    'the setting applies',
    5_000,
  )
  assertProblem(await put(caller, '/settings', {}), 'precondition_required', api.baseUrl, '/settings')
  const current = (await caller.get('/settings')).headers.etag
  assert.equal((await put(caller, '/settings', { requireIfMatch: null }, { 'if-match': current })).status, 200)
})

test('only one of two changes with the same If-Match succeeds', async () => {
  const caller = await api.createService()
  for (let i = 0; i < 5; i++) {
    const tag = (await caller.get('/settings')).headers.etag
    const responses = await Promise.all(
      ['retailerName', 'voucherType'].map(name => put(caller, '/settings', { [name]: `${i}` }, { 'if-match': tag })),
    )
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 412])
  }
})

test('concurrent settings changes do not overwrite each other', async () => {
  const caller = await createServiceWithReferences()
  const { timeZone: _, currency: __, ...quick } = allSettings
  const { returnReasons, defaultReturnReason, ...otherSettings } = quick
  const changes = [
    { returnReasons, defaultReturnReason },
    ...Object.entries(otherSettings).map(entry => Object.fromEntries([entry])),
  ]
  for (let i = 0; i < 3; i++) {
    await put(caller, '/settings', Object.fromEntries(Object.keys(quick).map(name => [name, null])))
    const responses = await Promise.all(changes.map(change => put(caller, '/settings', change)))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.deepEqual(await getSettings(caller), { ...expectedDefaults, ...quick })
  }
})

test('gateways imported from a file can be sent back within the limits', async () => {
  const caller = await api.createService()
  const names = Array.from({ length: 199 }, (_, i) => `gateway${i}`)
  await put(caller, '/settings', { gateways: ['paypal', ...names] })
  const lines = ['name', 'x'.repeat(51), 'paypal', 'one too many'].join('\n')
  const { path } = await importAndWait(caller, 'payment-gateways', `${lines}\n`)
  const rejected = (await caller.get(`${path}/rejected`)).json.data
  assert.deepEqual(rejected.flatMap(({ numbers }: { numbers: number[] }) => numbers).sort(), [2, 4])
  const current = (await caller.get('/settings')).json.data
  assert.equal(current.gateways.length, 200)
  assert.equal((await put(caller, '/settings', current)).status, 200)
})
