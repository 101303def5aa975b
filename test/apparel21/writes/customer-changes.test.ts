import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createPersonFixture } from './persons.ts'

const shop = await startShopFixture({ subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } } })
const { api, simulator } = shop
const { findPerson, listCalls, countCreated, listConsent, fillPerson } = createPersonFixture(shop)

test('a change clears nothing that it omits', async () => {
  const person = fillPerson()
  const { updated: _, password: __, ...before } = structuredClone(person)
  const response = await put(api, `/customers/${person.id}`, { firstname: 'Joan', mobile: '0411 111 111' })
  assert.equal(response.status, 200, response.text)
  const { updated: ___, password: ____, ...after } = structuredClone(person)
  assert.deepEqual(after, { ...before, firstname: 'Joan', mobile: '0411 111 111' })
  assert.deepEqual(
    listCalls().filter(call => !/Reference/.test(call)),
    [`GET /Persons/${person.id}`, `PUT /Persons/${person.id}`, `GET /Persons/${person.id}`],
  )
  assert.equal(response.json.data.loyaltyCode, 'VIP')
})

test('unknown elements, whitespace and another order do not affect written data', async () => {
  const person = fillPerson()
  const { updated: _, password: __, ...before } = structuredClone(person)
  for (const kind of ['reordered', 'extra-elements', 'trailing-blanks', 'carriage-returns'] as const) {
    simulator.faults.add({ kind, method: 'GET', path: '/Persons/*' })
    const response = await put(api, `/customers/${person.id}`, { work: undefined, title: before.title })
    assert.equal(response.status, 200, `${kind} ${response.text}`)
    simulator.faults.clear()
    const { updated: ___, password: ____, ...after } = structuredClone(person)
    assert.deepEqual(after, before, kind)
  }
})

test('an upstream value that a body cannot introduce can be sent back', async () => {
  const person = fillPerson()
  const unusualFields = { email: 'jo at example.test', home: '0400 1 ext 2', dateOfBirth: '1899-12-30' }
  simulator.change({ kind: 'edit-person', id: person.id, fields: unusualFields })
  await shop.sync('customers')
  const { updateTimeStamp: _, ...record } = (await api.get(`/customers/${person.id}`)).json.data
  const response = await put(api, `/customers/${person.id}`, { ...record, title: 'Prof' })
  assert.equal(response.status, 200, response.text)
  const { email, home, dateOfBirth, title } = person
  assert.deepEqual({ email, home, dateOfBirth, title }, { ...unusualFields, title: 'Prof' })
})

test('an overlong text that is unchanged is left to the back office', async () => {
  const { id } = await createCustomer(api)
  simulator.change({ kind: 'edit-person', id: Number(id), fields: { surname: 'x'.repeat(25) } })
  await shop.sync('customers')
  const { updateTimeStamp: _, ...record } = (await api.get(`/customers/${id}`)).json.data
  simulator.ledger.clear()
  await put(api, `/customers/${id}`, { ...record, title: 'Prof' })
  assert.equal(simulator.ledger.findCalls({ method: 'PUT' }).length, 1)
  assertProblem(await put(api, `/customers/${id}`, { surname: 'x'.repeat(26) }), 'invalid_field', api.baseUrl)
  assert.equal(simulator.ledger.findCalls({ method: 'PUT' }).length, 1)
})

test('null clears a field and leaves its neighbours', async () => {
  const person = fillPerson()
  const change = {
    title: null,
    dateOfBirth: null,
    address: { addressLine2: null },
    references: { shopsFor: null },
    contact: { phones: { home: null } },
  }
  const response = await put(api, `/customers/${person.id}`, change)
  assert.equal(response.status, 200, response.text)
  assert.deepEqual([person.title, person.dateOfBirth, person.billing.line2, person.home], ['', '', '', ''])
  assert.deepEqual([person.billing.line1, person.mobile], ['1 Swan St', '0400000000'])
  assert.deepEqual([...person.references.keys()].sort(), [1322, 27])
  assert.equal((await put(api, `/customers/${person.id}`, { address: null })).status, 200)
  assert.deepEqual([person.billing.line1, person.billing.companyName], ['', 'Ferns & Co'])
})

test('a subscription changes its reference and privacy and records the consent', async () => {
  const person = fillPerson()
  simulator.change({ kind: 'edit-person', id: person.id, fields: { privacy: true } })
  await shop.sync('customers')
  const before = (await listConsent(String(person.id))).length
  const yes = await put(api, `/customers/${person.id}`, {
    emailSubscription: true,
    smsSubscription: true,
    privacy: true,
  })
  assert.equal(yes.status, 200, yes.text)
  assert.deepEqual([person.privacy, person.references.get(1322)], [false, 4421])
  const { privacy, emailSubscription, smsSubscription } = yes.json.data
  assert.deepEqual([privacy, emailSubscription, smsSubscription], [false, true, true])
  assert.deepEqual(
    yes.json.meta.warnings.map((warning: { code: string }) => warning.code),
    ['subscription_not_mapped', 'privacy_overridden'],
  )
  assert.deepEqual((await listConsent(String(person.id))).slice(before), [
    { channel: 'marketing', old: false, new: true },
    { channel: 'email', old: false, new: true },
    { channel: 'sms', old: false, new: true },
  ])
  await put(api, `/customers/${person.id}`, { emailSubscription: false })
  assert.deepEqual([person.privacy, person.references.get(1322)], [false, 4422])
  assert.equal((await api.get(`/customers/${person.id}`)).json.data.smsSubscription, true)
})

test('a concurrent back office change between read and write is kept', async () => {
  const person = fillPerson()
  const change = { kind: 'edit-person', fields: { jobTitle: 'Gardener', work: '0377770000' } }
  simulator.faults.add({ kind: 'concurrent-change', method: 'PUT', path: '/Persons/*', times: 1, change })
  const response = await put(api, `/customers/${person.id}`, { firstname: 'Jane' })
  assert.equal(response.status, 200, response.text)
  assert.deepEqual([person.firstname, person.jobTitle, person.work], ['Jane', 'Gardener', '0377770000'])
  assert.equal(response.json.data.contact.phones.work, '0377770000')
  assert.deepEqual(
    simulator.ledger.findCalls({ method: 'PUT' }).map(({ errorCode }) => errorCode),
    [5010, null],
  )
})

test('a change is abandoned after three concurrent back office changes', async () => {
  const person = fillPerson()
  await shop.sync('customers')
  const before = (await api.get(`/customers/${person.id}`)).json.data
  const change = { kind: 'edit-person', fields: { jobTitle: 'Gardener' } }
  simulator.faults.add({ kind: 'concurrent-change', method: 'PUT', path: '/Persons/*', change })
  const response = await put(api, `/customers/${person.id}`, { firstname: 'Nobody' })
  assertProblem(response, 'concurrent_update', api.baseUrl, `/customers/${person.id}`)
  assert.equal(simulator.ledger.findCalls({ method: 'PUT' }).length, 3)
  assert.notEqual(person.firstname, 'Nobody')
  assert.deepEqual((await api.get(`/customers/${person.id}`)).json.data, before)
})

test('two concurrent changes of one customer are both stored', async () => {
  const { id } = await createCustomer(api)
  const responses = await Promise.all([
    put(api, `/customers/${id}`, { title: 'Dr' }),
    put(api, `/customers/${id}`, { mobile: '0400 222 222' }),
    put(api, `/customers/${id}`, { address: { city: 'Perth' } }),
  ])
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200],
  )
  const person = findPerson(id)
  assert.deepEqual([person.title, person.mobile, person.billing.city], ['Dr', '0400 222 222', 'Perth'])
  assert.equal((await api.get(`/customers/${id}`)).json.data.title, 'Dr')
})

test('If-Match detects a change in the back office', async () => {
  const { id } = await createCustomer(api)
  const { headers } = await api.get(`/customers/${id}`)
  const same = await put(api, `/customers/${id}`, { title: 'Mr' }, { 'if-match': headers.etag })
  assert.equal(same.status, 200, same.text)
  simulator.change({ kind: 'edit-person', id: Number(id), fields: { mobile: '0400 333 333' } })
  simulator.ledger.clear()
  const stale = await put(api, `/customers/${id}`, { title: 'Dr' }, { 'if-match': same.headers.etag })
  assertProblem(stale, 'precondition_failed', api.baseUrl)
  assert.equal(simulator.ledger.findCalls({ method: 'PUT' }).length, 0)
})

test('a customer known only to the back office can be changed', async () => {
  const person = fillPerson()
  await api.db.run(sql`delete from customer where service_id = ${api.service.id} and id = ${String(person.id)}`)
  const response = await put(api, `/customers/${person.id}`, { firstname: 'Late' })
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json.data.firstname, 'Late')
  for (const id of ['99999', '0', '-1', 'x', `0${person.id}`, '../Stores'])
    assertProblem(
      await put(api, `/customers/${encodeURIComponent(id)}`, { firstname: 'Late' }),
      'not_found',
      api.baseUrl,
    )
})

test('a change with a lost response is unknown until its repeat', async () => {
  const { id } = await createCustomer(api)
  simulator.faults.add({ kind: 'lost-response', method: 'PUT', path: '/Persons/*', times: 1 })
  assertProblem(await put(api, `/customers/${id}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  assert.equal((await api.get(`/customers/${id}`)).json.data.title, null)
  const response = await put(api, `/customers/${id}`, { title: 'Dr' })
  assert.equal(response.status, 200)
  assert.deepEqual([response.json.data.title, findPerson(id).title], ['Dr', 'Dr'])
})

test('a repeat finishes a customer change that was rolled back only here', async () => {
  const [body, key] = [buildCustomer(), withKey()]
  const before = await countRows(api, api, 'customer')
  shop.failCommits(1)
  assertProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([countCreated(), await countRows(api, api, 'customer')], [1, before])
  const { status, json } = await post(api, '/customers', body, key)
  assert.equal(status, 201)
  assert.deepEqual([countCreated(), await countRows(api, api, 'customer')], [1, before + 1])

  shop.failCommits(1)
  const change = { title: 'Dr' }
  assertProblem(await put(api, `/customers/${json.data.id}`, change), 'outcome_unknown', api.baseUrl)
  assert.equal((await api.get(`/customers/${json.data.id}`)).json.data.title, null)
  assert.equal((await put(api, `/customers/${json.data.id}`, change)).json.data.title, 'Dr')
})

test('an unavailable back office is 503 with Retry-After and nothing is written', async () => {
  const { id } = await createCustomer(api)
  const rows = await countRows(api, api, 'customer')
  await simulator.stopAccepting()
  for (const response of [
    await post(api, '/customers', buildCustomer(), withKey()),
    await put(api, `/customers/${id}`, { title: 'Dr' }),
  ]) {
    assertProblem(response, 'back_office_unavailable', api.baseUrl)
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.equal(await countRows(api, api, 'customer'), rows)
})
