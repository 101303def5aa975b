import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { Customer } from '../../../src/domain/customers/customers.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import { assertRejected, buildCustomer, createCustomer, newEmail } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put, withKey } from '../../support/write.ts'
import { countRows, hostileTexts, startShopFixture } from '../shop.ts'
import { createPersonFixture } from './persons.ts'

const shop = await startShopFixture({ subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } } })
const { api, simulator } = shop
const { findPerson, findByEmail, listCalls, countCreated, listConsent, fillPerson } = createPersonFixture(shop)

test('a customer is created in the back office and stored as returned', async () => {
  const body = buildCustomer({
    title: 'Mr',
    mobile: '0400 123 456',
    dateOfBirth: '1980-02-29',
    privacy: false,
    emailSubscription: true,
    address: {
      addressLine1: '111 Collins St',
      city: 'Melbourne',
      state: 'VIC',
      postcode: '3000',
      country: 'Australia',
    },
    references: { shopsFor: '4412' },
  })
  const response = await post(api, '/customers', body)
  assert.equal(response.status, 201, response.text)
  const record = response.json.data
  assert.deepEqual(validateBody(Customer, { ...record, references: {} }, { currency: 'AUD' }), [])
  assert.equal(response.headers.location, `/customers/${record.id}`)
  assert.equal(response.json.meta, undefined)
  const person = findPerson(record.id)
  assert.deepEqual(
    [person.firstname, person.surname, person.title, person.email, person.mobile, person.dateOfBirth, person.privacy],
    ['John', 'Smith', 'Mr', body.contact.email, '0400 123 456', '1980-02-29', false],
  )
  assert.deepEqual(
    [...person.references],
    [
      [1321, 4412],
      [1322, 4421],
    ],
  )
  assert.equal(person.billing.line1, '111 Collins St')
  assert.equal(record.code, person.code)
  assert.equal(record.startDate, `${person.startDate} 00:00:00`)
  assert.deepEqual(record.references.shopsFor, { code: 'M', name: 'Men', referenceValueId: '4412' })
  assert.deepEqual([record.privacy, record.emailSubscription, record.smsSubscription], [false, true, false])
  assert.deepEqual((await api.get(`/customers/${record.id}`)).json.data, record)
  assert.deepEqual(await listConsent(record.id), [
    { channel: 'marketing', old: null, new: true },
    { channel: 'email', old: null, new: true },
    { channel: 'sms', old: null, new: false },
  ])
  assert.equal(countCreated(), 1)
  assert.deepEqual(
    listCalls().filter(call => !/Reference/.test(call)),
    ['GET /Persons', 'POST /Persons', `GET /Persons/${record.id}`],
  )
})

test('a customer with minimal data can be changed', async () => {
  const { id } = await createCustomer(api)
  assert.equal(findPerson(id).billing.contactName, 'John Smith')
  const response = await put(api, `/customers/${id}`, { title: 'Mr' })
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json.data.title, 'Mr')
  assert.equal(response.json.data.address.addressLine1, null)
})

test('XML special characters in customer fields arrive unchanged', async () => {
  for (const text of hostileTexts) {
    const address = { addressLine1: text, addressLine2: `${text}${text}`.slice(0, 50), city: text }
    const body = buildCustomer({ surname: text.slice(0, 20), address })
    const record = await createCustomer(api, body)
    const person = findPerson(record.id)
    assert.deepEqual([person.surname, person.billing.line1, person.billing.city], [body.surname, text, text])
    assert.deepEqual([record.surname, record.address.addressLine1], [body.surname, text])
    assert.notEqual(person.code, 'X1')
  }
})

test('an overlong value is rejected with its pointer before any call', async () => {
  const long = 'x'.repeat(21)
  const body = buildCustomer({ firstname: long, surname: long, title: 'x'.repeat(11), address: { country: long } })
  assertRejected(
    api,
    await post(api, '/customers', body),
    'invalid_field',
    ...['/title', '/firstname', '/surname', '/address/country'],
  )
  assert.deepEqual(listCalls(), [])
})

test('an email in use is rejected, even if only upstream', async () => {
  const { id, contact } = await createCustomer(api)
  simulator.ledger.clear()
  const again = await post(api, '/customers', buildCustomer({ contact: { email: contact.email.toUpperCase() } }))
  assertRejected(api, again, 'email_taken', '/contact/email')
  assert.match(again.json.errors[0].detail, new RegExp(`Customer ${id} `))
  assert.deepEqual(listCalls(), [`GET /Persons/${id}`], 'the only call reads the customer that we created')

  const upstreamPerson = fillPerson()
  simulator.change({ kind: 'edit-person', id: upstreamPerson.id, fields: { email: 'elsewhere@example.test' } })
  const other = await post(api, '/customers', buildCustomer({ contact: { email: 'Elsewhere@example.test' } }))
  assertRejected(api, other, 'email_taken', '/contact/email')
  assert.match(other.json.errors[0].detail, new RegExp(`Customer ${upstreamPerson.id} `))
  const [customer] = (await api.get('/customers?email=elsewhere@example.test')).json.data
  assert.equal(customer?.id, String(upstreamPerson.id), 'the customer named in the error can be found')
  const conflicting = await put(api, `/customers/${id}`, { contact: { email: 'elsewhere@example.test' } })
  assertRejected(api, conflicting, 'email_taken', '/contact/email')
  assert.equal(countCreated(), 0)
})

test('an email that its owner released upstream is free', async () => {
  const upstreamPerson = fillPerson()
  await shop.sync('customers')
  const email = upstreamPerson.email
  simulator.change({ kind: 'edit-person', id: upstreamPerson.id, fields: { email: newEmail() } })
  const { id } = await createCustomer(api, buildCustomer({ contact: { email } }))
  assert.notEqual(id, String(upstreamPerson.id))
  assert.equal((await api.get(`/customers/${upstreamPerson.id}`)).json.data.contact.email, upstreamPerson.email)
})

test('one of twenty concurrent creates with one email succeeds', async () => {
  const body = buildCustomer()
  const responses = await Promise.all(Array.from({ length: 20 }, () => post(api, '/customers', body)))
  const [first, ...more] = responses.filter(({ status }) => status === 201)
  assert.ok(first)
  assert.deepEqual(more, [])
  for (const response of responses.filter(({ status }) => status !== 201)) {
    assertProblem(response, 'email_taken', api.baseUrl)
    assert.match(response.json.detail, new RegExp(`Customer ${first.json.data.id} `))
  }
  assert.equal(countCreated(), 1)
})

test('an unknown reference type and a value of another type are rejected', async () => {
  await api.db.run(
    sql`insert into reference (service_id, type, reference_value_id, code, name) values (${api.service.id}, 'favouriteColour', '1', 'R', 'Red')`,
  )
  const unknown = await post(api, '/customers', buildCustomer({ references: { favouriteColour: '1' } }))
  assertRejected(api, unknown, 'invalid_field', '/references/favouriteColour')
  const withProductReference = await post(api, '/customers', buildCustomer({ references: { season: '1342' } }))
  assertRejected(api, withProductReference, 'invalid_field', '/references')
  assert.equal(countCreated(), 0)
})

test('a create with a lost response is unknown until its repeat', async () => {
  const [body, key] = [buildCustomer({ title: 'Mr', references: { shopsFor: '4413' } }), withKey()]
  const before = await countRows(api, api, 'customer')
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons', times: 1 })
  assertProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl, '/customers')
  assert.equal(await countRows(api, api, 'customer'), before)
  assert.equal(countCreated(), 1)
  const repeat = await post(api, '/customers', body, key)
  assert.equal(repeat.status, 201, repeat.text)
  assert.equal(countCreated(), 1)
  assert.equal(findByEmail(body.contact.email).length, 1)
  assert.equal(await countRows(api, api, 'customer'), before + 1)
  assert.equal((await listConsent(repeat.json.data.id)).length, 3)
  const third = await post(api, '/customers', body, key)
  assert.equal(third.headers['idempotent-replayed'], 'true')
})

test('a repeat finds the person even if a sync was faster', async () => {
  const [body, key] = [buildCustomer(), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons', times: 1 })
  assertProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  await shop.sync('customers')
  const rows = await countRows(api, api, 'customer')
  assert.equal((await post(api, '/customers', body, key)).status, 201)
  assert.equal(await countRows(api, api, 'customer'), rows)
  assert.equal(countCreated(), 1)
  assertProblem(await post(api, '/customers', body, withKey()), 'email_taken', api.baseUrl)
})

test('a person with another name is never taken for the earlier attempt', async () => {
  const [body, key] = [buildCustomer(), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons', times: 1 })
  assertProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  const other = await post(api, '/customers', { ...body, surname: 'Other' }, withKey())
  assertRejected(api, other, 'email_taken', '/contact/email')
  const [person] = findByEmail(body.contact.email)
  simulator.change({ kind: 'edit-person', id: person?.id ?? 0, fields: { startDate: '2020-01-01' } })
  assertRejected(api, await post(api, '/customers', body, key), 'email_taken', '/contact/email')
})

test('a person created but not readable is an unknown outcome', async () => {
  const [body, key] = [buildCustomer(), withKey()]
  simulator.faults.add({ kind: 'html', method: 'GET', path: '/Persons/*', times: 1 })
  assertProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  assert.equal((await post(api, '/customers', body, key)).status, 201)
  assert.equal(countCreated(), 1)
})

test('a web page is 502 for reads and unknown for writes', async () => {
  const body = buildCustomer()
  simulator.faults.add({ kind: 'html', path: '/Persons' })
  assertProblem(await post(api, '/customers', body), 'back_office_error', api.baseUrl)
  simulator.faults.clear()
  simulator.faults.add({ kind: 'html', method: 'POST', path: '/Persons' })
  const unknown = await post(api, '/customers', body)
  assertProblem(unknown, 'outcome_unknown', api.baseUrl)
  assert.doesNotMatch(unknown.text, /html/i)
  assert.equal(countCreated(), 0)
})

test('a silent back office is an unknown outcome at the deadline', async () => {
  simulator.faults.add({ kind: 'hang', method: 'POST', path: '/Persons', times: 1 })
  const began = performance.now()
  assertProblem(await post(api, '/customers', buildCustomer(), withKey()), 'outcome_unknown', api.baseUrl)
  assert.ok(performance.now() - began < 5_000)
  assert.equal(simulator.ledger.findCalls({ method: 'POST' }).length, 1)
})
