import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import {
  allCustomerFields,
  allPhones,
  assertRejected,
  buildCustomer,
  countCustomers,
  createCustomer,
  newEmail,
  startCustomerShop,
  updateCustomer,
} from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

test('a name and an email are enough to create a customer', async () => {
  const body = buildCustomer()
  const response = await post(api, '/customers', body)
  assert.equal(response.status, 201, response.text)
  const { id, code, startDate, updateTimeStamp, contact, ...fields } = response.json.data
  assert.deepEqual(fields, {
    title: null,
    firstname: 'John',
    surname: 'Smith',
    dateOfBirth: null,
    privacy: true,
    emailSubscription: false,
    smsSubscription: false,
    address: { addressLine1: null, addressLine2: null, city: null, state: null, postcode: null, country: null },
    references: {},
    loyaltyCode: null,
    loyaltyName: null,
    joinedStoreId: null,
    joinedStoreCode: null,
    ecommerceAdminId: null,
    ecommerceLegacyId: null,
  })
  assert.deepEqual(contact, { email: body.contact.email, phones: { home: null, mobile: null, work: null } })
  assert.match(code, /^SMITJOHN\d\d$/)
  // Both times are in the time zone of the service.
  assert.match(startDate, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  const difference = Temporal.PlainDateTime.from(startDate).until(updateTimeStamp).total('seconds')
  assert.ok(Math.abs(difference) <= 2, `${startDate}, ${updateTimeStamp}`)
  const now = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  assert.ok(Math.abs(now.until(updateTimeStamp).total('seconds')) < 60)

  assert.equal(response.headers.location, `/customers/${id}`)
  const read = await api.get(`/customers/${id}`)
  assert.deepEqual([read.text, read.headers.etag], [response.text, response.headers.etag])
  const { json } = await api.get('/customers/search?updated_after=2020-01-01')
  assert.ok(json.data.some((record: { id: string }) => record.id === id))
})

test('every customer field can be set and read back', async () => {
  const email = newEmail()
  const { id } = await createCustomer(api, { ...allCustomerFields, contact: { email, phones: allPhones } })
  const { data } = (await api.get(`/customers/${id}`)).json
  const { mobile, ...otherFields } = allCustomerFields
  for (const [name, value] of Object.entries(otherFields)) assert.deepEqual(data[name], value, name)
  assert.deepEqual(data.contact, { email, phones: allPhones })
  const { data: brief } = (await post(api, '/customers', buildCustomer({ mobile }))).json
  assert.deepEqual(brief.contact.phones, { home: null, mobile, work: null })
})

test('null in a new customer means the field is omitted', async () => {
  const nullFields = Object.fromEntries(
    ['title', 'dateOfBirth', 'privacy', 'emailSubscription', 'smsSubscription', 'address', 'references'].map(name => [
      name,
      null,
    ]),
  )
  const phones = { home: null, mobile: '0400 123 456', work: null }
  const body = buildCustomer({ ...nullFields, mobile: null })
  const data = await createCustomer(api, { ...body, contact: { ...body.contact, phones } })
  assert.deepEqual([data.title, data.privacy, data.emailSubscription, data.references], [null, true, false, {}])
  assert.deepEqual(data.contact.phones, phones)
})

test('an email belongs to one customer, however it is written', async () => {
  const { id } = await createCustomer(api, buildCustomer({ contact: { email: 'José.One@Example.com' } }))
  const spellings = [
    'José.One@Example.com',
    'josé.one@example.com',
    'JOSÉ.ONE@EXAMPLE.COM',
    'Jose\u0301.One@Example.com',
  ]
  const other = await createCustomer(api)
  const before = await countCustomers(api)
  for (const email of spellings) {
    const create = await post(api, '/customers', buildCustomer({ contact: { email } }))
    assertRejected(api, create, 'email_taken', '/contact/email')
    assert.ok(create.json.detail.includes(id), create.json.detail)
    const change = await put(api, `/customers/${other.id}`, { title: 'Dr', contact: { email } })
    assertRejected(api, change, 'email_taken', '/contact/email')
    const response = await api.get(`/customers?email=${encodeURIComponent(email)}`)
    assert.deepEqual(
      response.json.data.map((record: { id: string }) => record.id),
      [id],
    )
  }
  assert.equal(await countCustomers(api), before)
  assert.deepEqual((await api.get(`/customers/${other.id}`)).json.data, other)
  // The address of one customer is rejected for another, and is available again after it is removed.
  assert.equal((await updateCustomer(api, id, { contact: { email: spellings[2] } })).contact.email, spellings[2])
  await updateCustomer(api, id, { contact: { email: newEmail() } })
  await updateCustomer(api, other.id, { contact: { email: spellings[3] } })
  const otherCaller = await api.createService()
  await createCustomer(otherCaller, buildCustomer({ contact: { email: spellings[3] } }))
})

test('a customer of another service is not found and stays unchanged', async () => {
  const own = await createCustomer(api)
  const other = await api.createService()
  const [foreign, unknown] = [
    await put(other, `/customers/${own.id}`, { firstname: 'Stolen' }),
    await put(other, '/customers/none', { firstname: 'Stolen' }),
  ]
  for (const { status, json } of [foreign, unknown])
    assert.deepEqual([status, json.code, json.detail], [404, 'not_found', 'Customer not found.'])
  assert.deepEqual((await api.get(`/customers/${own.id}`)).json.data, own)
})

test('a visitor cannot create or change a customer', async () => {
  const visitor = await api.createAccount('visitor')
  const { id } = await createCustomer(api)
  assertProblem(await post(visitor, '/customers', buildCustomer()), 'insufficient_role', api.baseUrl, '/customers')
  assertProblem(await put(visitor, `/customers/${id}`, {}), 'insufficient_role', api.baseUrl, `/customers/${id}`)
})

test('a repeat with the same key returns the first response', async () => {
  const key = { 'idempotency-key': '"new-customer-1"' }
  const body = buildCustomer()
  const first = await post(api, '/customers', body, key)
  const total = await countCustomers(api)
  const reordered = Object.fromEntries(Object.entries(body).reverse())
  for (const again of [body, reordered]) {
    const response = await post(api, '/customers', again, key)
    assert.deepEqual([response.status, response.text], [201, first.text])
    for (const name of ['etag', 'location']) assert.equal(response.headers[name], first.headers[name])
    assert.deepEqual(
      [first.headers['idempotent-replayed'], response.headers['idempotent-replayed']],
      [undefined, 'true'],
    )
  }
  assertRejected(api, await post(api, '/customers', { ...body, title: 'Dr' }, key), 'idempotency_key_reused')
  assert.equal(await countCustomers(api), total)
  const other = await api.createService()
  const otherResponse = await post(other, '/customers', body, key)
  assert.equal(otherResponse.status, 201)
  assert.notEqual(otherResponse.json.data.id, first.json.data.id)
})

test('a rejected customer leaves its key unused', async () => {
  const key = { 'idempotency-key': 'new-customer-2' }
  const accepted = await createCustomer(api)
  assertRejected(
    api,
    await post(api, '/customers', buildCustomer({ contact: accepted.contact }), key),
    'email_taken',
    '/contact/email',
  )
  assert.equal((await post(api, '/customers', buildCustomer(), key)).status, 201)
})

test('an audit entry of a customer names fields without their values', async () => {
  const listEntries = async () =>
    (await api.db.rows<{ record: string }>(sql`select record from audit order by changed_at`)).map(({ record }) =>
      JSON.parse(record),
    )
  const before = (await listEntries()).length
  const secret = 'Rumpelstiltskin'
  const data = await createCustomer(
    api,
    buildCustomer({ firstname: secret, address: { city: secret }, mobile: '0400 777 777' }),
  )
  await updateCustomer(api, data.id, { surname: secret, contact: { phones: { home: null } } })
  assertRejected(
    api,
    await put(api, `/customers/${data.id}`, { dateOfBirth: '1066-10-14' }),
    'invalid_field',
    '/dateOfBirth',
  )
  const [create, change, ...more] = (await listEntries()).slice(before)
  assert.deepEqual(more, [])
  assert.deepEqual([create.operation, change.operation], ['POST /customers', 'PUT /customers/:id'])
  for (const entry of [create, change]) {
    assert.deepEqual([entry.subject, entry.username], [`/customers/${data.id}`, api.username])
    assert.doesNotMatch(JSON.stringify(entry), /Rumpel|0400 777|1066-10-14|example\.com/)
  }
  assert.deepEqual(create.fields, ['firstname', 'surname', 'contact.email', 'address.city', 'mobile'])
  assert.deepEqual(change.fields, ['surname', 'contact.phones.home'])
})

test('a customer code uses the Latin letters of the name', async () => {
  for (const [firstname, surname, prefix] of [
    ['José', 'Nuñez', 'NUNEJOSE'],
    ['Al', "O'Neill-Brown", 'ONEIAL'],
    ['明', '李', ''],
    ['Zoë', 'شمس', 'ZOE'],
  ] as const)
    assert.match(
      (await createCustomer(api, buildCustomer({ firstname, surname }))).code,
      new RegExp(`^${prefix}\\d\\d$`),
    )
})
