import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertReferences } from '../../../src/store/catalog/references.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import {
  assertRejected,
  buildCustomer,
  createCustomer,
  getWarningCodes,
  startCustomerShop,
  updateCustomer,
  updateCustomerDuring,
} from '../../support/customer-bodies.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

const mapping = {
  email: { type: 'newsletter', yes: '4411', no: '4412' },
  sms: { type: 'textMessages', yes: 'Y', no: 'N' },
}

const references = [
  { type: 'favouriteStore', referenceValueId: '1', code: 'CBD', name: 'Collins Street' },
  { type: 'favouriteStore', referenceValueId: '2', code: null, name: 'Bourke Street' },
  { type: 'interest', referenceValueId: '12', code: 'RUN', name: 'Running' },
  { type: 'newsletter', referenceValueId: '4411', code: 'Y', name: 'Yes, please' },
  { type: 'newsletter', referenceValueId: '4412', code: 'N', name: 'No, thank you' },
]

/** A shop that maps subscriptions to references. */
const mappedShop = await api.createService({
  writesPerMinute: 'off',
  readsPerMinute: 'off',
  subscriptionMapping: mapping,
})
for (const { service } of [api, mappedShop]) await upsertReferences(api.db, service, references)

const unmapped = 'subscription_not_mapped'

test('a change without a mapping warns about each mentioned flag', async () => {
  const response = await post(api, '/customers', buildCustomer({ emailSubscription: true, smsSubscription: false }))
  assert.deepEqual(getWarningCodes(response.json), [unmapped, unmapped])
  assert.deepEqual(response.json.data.references, {})
  const [first, second] = response.json.meta.warnings
  assert.match(first.detail, /`emailSubscription`/)
  assert.match(second.detail, /`smsSubscription`/)
  const path = `/customers/${response.json.data.id}`
  assert.equal((await put(api, path, { title: 'Dr' })).json.meta, undefined)
  assert.deepEqual(getWarningCodes((await put(api, path, { smsSubscription: false })).json), [unmapped])
  const partlyMappedShop = await api.createService({ subscriptionMapping: { email: mapping.email } })
  const subscriptionResponse = await post(
    partlyMappedShop,
    '/customers',
    buildCustomer({ emailSubscription: true, smsSubscription: true }),
  )
  assert.deepEqual(getWarningCodes(subscriptionResponse.json), [unmapped])
  assert.equal(subscriptionResponse.json.data.references.newsletter.referenceValueId, '4411')
})

test("a warning does not affect the record's ETag", async () => {
  const response = await post(api, '/customers', buildCustomer({ emailSubscription: true }))
  const read = await api.get(`/customers/${response.json.data.id}`)
  assert.deepEqual(
    [read.headers.etag, read.json.data, read.json.meta],
    [response.headers.etag, response.json.data, undefined],
  )
})

test('a mapped subscription sets its reference in the same change', async () => {
  const response = await post(
    mappedShop,
    '/customers',
    buildCustomer({ emailSubscription: true, references: { interest: '12' } }),
  )
  const { id, references: stored } = response.json.data
  assert.deepEqual(getWarningCodes(response.json), [])
  const interest = { code: 'RUN', name: 'Running', referenceValueId: '12' }
  assert.deepEqual(stored, { interest, newsletter: { code: 'Y', name: 'Yes, please', referenceValueId: '4411' } })
  const ended = await updateCustomer(mappedShop, id, { emailSubscription: false })
  const newsletter = { code: 'N', name: 'No, thank you', referenceValueId: '4412' }
  assert.deepEqual(ended.references, { interest, newsletter })
  // The change succeeds even if the reference cache doesn't have the value yet.
  const withTexts = await updateCustomer(mappedShop, id, { smsSubscription: true })
  const textMessages = { code: null, name: null, referenceValueId: 'Y' }
  assert.deepEqual(withTexts.references, { interest, newsletter, textMessages })
  assert.deepEqual((await updateCustomer(mappedShop, id, { title: 'Dr' })).references, withTexts.references)
})

test('a reference mapped to a subscription follows its flag', async () => {
  const { id } = await createCustomer(
    mappedShop,
    buildCustomer({ emailSubscription: true, references: { newsletter: '4411' } }),
  )
  const path = `/customers/${id}`
  const pointer = '/references/newsletter'
  for (const change of [
    { references: { newsletter: '4412' } },
    { references: { newsletter: null } },
    { emailSubscription: true, references: { newsletter: '4412' } },
    { emailSubscription: false, references: { newsletter: '4411' } },
    { emailSubscription: null, references: { newsletter: null } },
  ]) {
    const response = await put(mappedShop, path, change)
    assertRejected(api, response, 'invalid_field', pointer)
    assert.match(response.json.detail, /`emailSubscription`/)
  }
  assertRejected(
    api,
    await post(mappedShop, '/customers', buildCustomer({ references: { newsletter: '4411' } })),
    'invalid_field',
    pointer,
  )
  for (const change of [
    { references: { newsletter: '4411' } },
    { emailSubscription: true, references: { newsletter: '4411' } },
    { emailSubscription: false, references: { newsletter: '4412' } },
  ])
    await updateCustomer(mappedShop, id, change)
  assert.equal(
    (await updateCustomer(mappedShop, id, { references: null })).references.newsletter.referenceValueId,
    '4412',
  )
})

test('an imported reference that contradicts its flag can be kept or corrected', async () => {
  const row = { id: 'astray', firstname: 'Ann', emailSubscription: false, referenceValues: { newsletter: '4411' } }
  await upsertCustomers(api.db, mappedShop.service, [row])
  const same = await updateCustomer(mappedShop, 'astray', { references: { newsletter: '4411' } })
  assert.deepEqual([same.emailSubscription, same.references.newsletter.referenceValueId], [false, '4411'])
  const corrected = await updateCustomer(mappedShop, 'astray', { references: { newsletter: '4412' } })
  assert.deepEqual([corrected.emailSubscription, corrected.references.newsletter.referenceValueId], [false, '4412'])
})

test('a reference can be set by value or in the response form', async () => {
  const collins = { code: 'CBD', name: 'Collins Street', referenceValueId: '1' }
  const bourke = { code: null, name: 'Bourke Street', referenceValueId: '2' }
  const { id } = await createCustomer(api, buildCustomer({ references: { favouriteStore: '1', interest: null } }))
  const steps: [object | null, object][] = [
    [{}, { favouriteStore: collins }],
    [{ favouriteStore: { referenceValueId: '2' } }, { favouriteStore: bourke }],
    [{ favouriteStore: collins }, { favouriteStore: collins }],
    [
      { favouriteStore: bourke, interest: '12' },
      { favouriteStore: bourke, interest: { code: 'RUN', name: 'Running', referenceValueId: '12' } },
    ],
    [{ interest: null }, { favouriteStore: bourke }],
    [{ interest: null, unknown: null }, { favouriteStore: bourke }],
    [null, {}],
  ]
  for (const [input, expected] of steps)
    assert.deepEqual((await updateCustomer(api, id, { references: input })).references, expected, JSON.stringify(input))
})

test('a reference must exist in the cache', async () => {
  const { id } = await createCustomer(api)
  const path = `/customers/${id}`
  const cases: [object, string][] = [
    [{ favouriteStore: '9' }, '/references/favouriteStore'],
    [{ favouriteStore: '12' }, '/references/favouriteStore'],
    [{ nope: '1' }, '/references/nope'],
    [{ 'a/b~c': '1' }, '/references/a~1b~0c'],
    [{ '\u0000': '1' }, '/references/\u0000'],
    [{ '\ud800': null }, '/references/\ud800'],
    [{ ['x'.repeat(101)]: '1' }, `/references/${'x'.repeat(101)}`],
    [{ constructor: '1' }, '/references/constructor'],
    [{ favouriteStore: { referenceValueId: '1', code: 'XYZ' } }, '/references/favouriteStore/code'],
    [{ favouriteStore: { referenceValueId: '2', code: 'CBD' } }, '/references/favouriteStore/code'],
    [{ favouriteStore: { referenceValueId: '1', name: null } }, '/references/favouriteStore/name'],
    [{ favouriteStore: '' }, '/references/favouriteStore'],
    [Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`type${i}`, '1'])), '/references'],
  ]
  for (const [input, pointer] of cases)
    assertRejected(api, await put(api, path, { references: input }), 'invalid_field', pointer)
  assertRejected(
    api,
    await put(api, path, '{"references":{"__proto__":"1"}}'),
    'invalid_field',
    '/references/__proto__',
  )
  const input = { dateOfBirth: '1066-10-14', references: { favouriteStore: '9', interest: '13' } }
  const pointers = ['/dateOfBirth', '/references/favouriteStore', '/references/interest']
  assertRejected(api, await put(api, path, input), 'invalid_field', ...pointers)
  assertRejected(api, await post(api, '/customers', buildCustomer(input)), 'invalid_field', ...pointers)
  assert.deepEqual((await api.get(path)).json.data.references, {})
})

test('a reference of another service is unknown', async () => {
  const other = await api.createService()
  const response = await post(other, '/customers', buildCustomer({ references: { favouriteStore: '1' } }))
  assertRejected(api, response, 'invalid_field', '/references/favouriteStore')
})

test('a service can restrict the references of a customer', async () => {
  const restrictedShop = await api.createService({ referenceTypes: ['interest'] })
  await upsertReferences(api.db, restrictedShop.service, references)
  await upsertCustomers(api.db, restrictedShop.service, [
    { id: 'old', firstname: 'Ann', referenceValues: { favouriteStore: '1', gone: '7' } },
  ])
  assert.ok((await updateCustomer(restrictedShop, 'old', { references: { interest: '12' } })).references.interest)
  assertRejected(
    api,
    await put(restrictedShop, '/customers/old', { references: { favouriteStore: '2' } }),
    'invalid_field',
    '/references/favouriteStore',
  )
  // Stored references can stay even if the cache doesn't know them.
  const { references: stored } = (await restrictedShop.get('/customers/old')).json.data
  assert.deepEqual((await updateCustomer(restrictedShop, 'old', { references: stored })).references, stored)
  assert.deepEqual(
    Object.keys((await updateCustomer(restrictedShop, 'old', { references: { favouriteStore: null } })).references),
    ['gone', 'interest'],
  )
})

test('a value renamed while it is assigned shows its new name', async () => {
  const { id } = await createCustomer(api)
  const value = { type: 'interest', referenceValueId: '12', name: 'Trail running' }
  const rename = () => upsertReferences(api.db, api.service, [value])
  const { references: stored } = await updateCustomerDuring(api, id, { references: { interest: '12' } }, rename)
  assert.equal(stored.interest.name, 'Trail running')
})

test('a customer change loses nothing if a reference value is renamed concurrently', async () => {
  const { id } = await createCustomer(api, buildCustomer({ references: { favouriteStore: '2' } }))
  const value = { type: 'favouriteStore', referenceValueId: '2', name: 'Bourke St' }
  const rename = () => upsertReferences(api.db, api.service, [value])
  const { surname, references: stored } = await updateCustomerDuring(api, id, { surname: 'Changed' }, rename)
  assert.deepEqual([surname, stored.favouriteStore.name], ['Changed', 'Bourke St'])
})
