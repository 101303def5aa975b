import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/database/db.ts'
import {
  allCustomerFields,
  allPhones,
  assertRejected,
  buildCustomer,
  createCustomer,
  newEmail,
  startCustomerShop,
  updateCustomer,
} from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

test('a change keeps all fields it omits, including nested ones', async () => {
  const { id } = await createCustomer(api, { ...allCustomerFields, contact: { email: newEmail(), phones: allPhones } })
  let expected = (await api.get(`/customers/${id}`)).json.data
  const steps: [object, (customer: typeof expected) => void][] = [
    [{ title: 'Ms' }, c => (c.title = 'Ms')],
    [{ firstname: 'Jane' }, c => (c.firstname = 'Jane')],
    [{ contact: { phones: { home: '99 123' } } }, c => (c.contact.phones.home = '99 123')],
    [{ contact: { phones: { work: null } } }, c => (c.contact.phones.work = null)],
    [{ contact: { email: 'Jane.O@Example.com' } }, c => (c.contact.email = 'Jane.O@Example.com')],
    [{ mobile: '0411 222 333' }, c => (c.contact.phones.mobile = '0411 222 333')],
    [
      { mobile: '0411 222 334', contact: { phones: { mobile: '0411 222 334' } } },
      c => (c.contact.phones.mobile = '0411 222 334'),
    ],
    [{ address: { city: 'Sydney', state: null } }, c => Object.assign(c.address, { city: 'Sydney', state: null })],
    [{ address: {} }, () => {}],
    [{ contact: {} }, () => {}],
  ]
  for (const [change, apply] of steps) {
    const data = await updateCustomer(api, id, change)
    apply(expected)
    expected = { ...expected, updateTimeStamp: data.updateTimeStamp }
    assert.deepEqual(data, expected, JSON.stringify(change))
    assert.deepEqual((await api.get(`/customers/${id}`)).json.data, expected)
  }
})

test('null clears optional fields, one by one or as a whole', async () => {
  const createFull = () =>
    createCustomer(api, { ...allCustomerFields, contact: { email: newEmail(), phones: allPhones } })
  const { id } = await createFull()
  for (const name of ['title', 'dateOfBirth'] as const)
    assert.equal((await updateCustomer(api, id, { [name]: null }))[name], null)
  assert.equal((await updateCustomer(api, id, { mobile: null })).contact.phones.mobile, null)
  assert.equal((await updateCustomer(api, id, { privacy: null })).privacy, true)
  assert.deepEqual((await updateCustomer(api, id, { address: null })).address, {
    addressLine1: null,
    addressLine2: null,
    city: null,
    state: null,
    postcode: null,
    country: null,
  })
  const cleared = await updateCustomer(api, id, { contact: { phones: null } })
  assert.deepEqual(cleared.contact.phones, { home: null, mobile: null, work: null })
  assert.equal(cleared.firstname, allCustomerFields.firstname)
  assert.ok(cleared.contact.email)
})

test('a change without effect keeps the change timestamp, ETag and lists', async () => {
  const created = await createCustomer(api, {
    ...allCustomerFields,
    contact: { email: newEmail(), phones: allPhones },
  })
  const getTimestamp = async () =>
    (await api.db.row<{ at: string }>(sql`select changed_at::text as at from customer where id = ${created.id}`))?.at
  const [before, read] = [await getTimestamp(), await api.get(`/customers/${created.id}`)]
  const { title, firstname, surname, dateOfBirth, privacy, contact, address, references } = created
  for (const same of [
    {},
    { firstname },
    { address: { city: address.city } },
    { title, firstname, surname, dateOfBirth, privacy, contact, address, references, mobile: contact.phones.mobile },
    { emailSubscription: false },
  ]) {
    const response = await put(api, `/customers/${created.id}`, same)
    assert.deepEqual([response.status, response.json.data], [200, created], response.text)
    assert.equal(response.headers.etag, read.headers.etag)
  }
  assert.equal(await getTimestamp(), before)
  await updateCustomer(api, created.id, { firstname: 'Other' })
  assert.notEqual(await getTimestamp(), before)
})

test('a change with `If-Match` applies only to the named version', async () => {
  const { id } = await createCustomer(api)
  const path = `/customers/${id}`
  const { headers } = await api.get(path)
  const tag = String(headers.etag)
  assertRejected(api, await put(api, path, { title: 'Dr' }, { 'if-match': '"other"' }), 'precondition_failed')
  const first = await put(api, path, { title: 'Dr' }, { 'if-match': tag })
  assert.equal(first.status, 200)
  assert.equal(first.headers.etag, (await api.get(path)).headers.etag)
  assertRejected(api, await put(api, path, { title: 'Mr' }, { 'if-match': tag }), 'precondition_failed')
  assert.equal((await put(api, path, { title: 'Mr' }, { 'if-match': `"x", ${first.headers.etag}` })).status, 200)
  assert.equal((await put(api, path, { title: 'Ms' }, { 'if-match': '*' })).status, 200)
  assertProblem(await put(api, '/customers/none', {}, { 'if-match': tag }), 'not_found', api.baseUrl, '/customers/none')
})

test('a service can require `If-Match` for every change', async () => {
  const strict = await api.createService({ requireIfMatch: true })
  const response = await post(strict, '/customers', buildCustomer())
  const path = String(response.headers.location)
  assertRejected(api, await put(strict, path, { title: 'Dr' }), 'precondition_required')
  assert.equal((await put(strict, path, { title: 'Dr' }, { 'if-match': String(response.headers.etag) })).status, 200)
})

const words = fc.constantFrom('Ann', 'Bob', 'Zoë', '  x', '明', '👩‍👧', 'o’Neill')

const numbers = fc.constantFrom('112', '+44 7700 900123', '(03) 9123-4567')

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const optionalFields = <T extends object>(fields: { [name in keyof T]: fc.Arbitrary<T[name]> }) =>
  fc.record(fields, { requiredKeys: [] })

const changes = optionalFields({
  title: optional(words),
  firstname: words,
  surname: words,
  dateOfBirth: optional(fc.constantFrom('1910-08-13', '2000-02-29')),
  contact: optionalFields({
    phones: optional(optionalFields({ home: optional(numbers), mobile: optional(numbers), work: optional(numbers) })),
  }),
  address: optional(
    optionalFields({
      addressLine1: optional(words),
      addressLine2: optional(words),
      city: optional(words),
      state: optional(words),
      postcode: optional(fc.constantFrom('3000', 'SW1A 1AA')),
      country: optional(words),
    }),
  ),
})

/** Returns the expected record after a change: omitted fields stay, null clears, other values replace. */
function mergeChange(record: Record<string, unknown>, change: object): Record<string, unknown> {
  const toNulls = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.keys(value).map(name => [name, null]))
      : null
  const entries = Object.entries(change).map(([name, value]): [string, unknown] => {
    if (value === null) return [name, toNulls(record[name])]
    return [name, typeof value === 'object' ? mergeChange(record[name] as Record<string, unknown>, value) : value]
  })
  return { ...record, ...Object.fromEntries(entries) }
}

test('sequential changes keep omitted fields, clear nulls and store values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 6 }), async steps => {
      let expected = await createCustomer(api, buildCustomer({ contact: { email: newEmail() } }))
      for (const change of steps) {
        const data = await updateCustomer(api, expected.id, change)
        expected = { ...mergeChange(expected, change), updateTimeStamp: data.updateTimeStamp }
        assert.deepEqual(data, expected)
      }
      assert.deepEqual((await api.get(`/customers/${expected.id}`)).json.data, expected)
    }),
    { numRuns: 60 },
  )
})

test('any two concurrent changes end like a sequence of both', async () => {
  await fc.assert(
    fc.asyncProperty(changes, changes, async (change, other) => {
      const before = await createCustomer(api)
      await Promise.all([updateCustomer(api, before.id, change), updateCustomer(api, before.id, other)])
      const { updateTimeStamp: _, ...data } = (await api.get(`/customers/${before.id}`)).json.data
      const { updateTimeStamp: __, ...first } = mergeChange(mergeChange(before, change), other)
      const { updateTimeStamp: ___, ...second } = mergeChange(mergeChange(before, other), change)
      const stored = JSON.stringify(data)
      assert.ok(
        [first, second].some(expected => stored === JSON.stringify(expected)),
        stored,
      )
    }),
    { numRuns: 60 },
  )
})
