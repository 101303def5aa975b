import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { mergeCustomers, upsertCustomers, upsertCustomersUnlessNewer } from '../../../src/store/customers/customers.ts'
import { readDatabaseTime } from '../../../src/store/lists/change-timestamp.ts'
import {
  assertRejected,
  buildCustomer,
  countCustomers,
  createCustomer,
  newEmail,
  startCustomerShop,
  updateCustomerDuring,
} from '../../support/customer-bodies.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

test('one of twenty concurrent creates with the same email succeeds', async () => {
  for (let round = 0; round < 3; round++) {
    const email = newEmail()
    const before = await countCustomers(api)
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        post(api, '/customers', buildCustomer({ contact: { email: i % 2 ? email : email.toUpperCase() } })),
      ),
    )
    const [winner, ...otherWinners] = responses.filter(({ status }) => status === 201)
    assert.deepEqual([otherWinners.length, await countCustomers(api)], [0, before + 1])
    for (const response of responses.filter(candidate => candidate !== winner)) {
      assertRejected(api, response, 'email_taken', '/contact/email')
      assert.ok(response.json.detail.includes(winner?.json.data.id))
    }
  }
})

test('two customers who swap emails concurrently end up with one email each', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = await Promise.all([createCustomer(api), createCustomer(api)])
    const responses = await Promise.all([
      put(api, `/customers/${a.id}`, { contact: { email: b.contact.email } }),
      put(api, `/customers/${b.id}`, { contact: { email: a.contact.email } }),
    ])
    for (const response of responses) assert.equal(response.json.code, 'email_taken', response.text)
    const expected = newEmail()
    const emailResponses = await Promise.all(
      [a, b].map(({ id }) => put(api, `/customers/${id}`, { contact: { email: expected } })),
    )
    assert.deepEqual(emailResponses.map(({ status }) => status).sort(), [200, 409])
  }
})

test('two concurrent changes lose no field of each other', async () => {
  const { id } = await createCustomer(api)
  for (let round = 0; round < 40; round++) {
    const text = `round ${round}`
    const number = `${1000 + round}`
    const changes = [
      { firstname: text },
      { surname: text },
      { contact: { phones: { home: number } } },
      { mobile: number },
      { address: { city: text } },
      { address: { addressLine2: text } },
    ].slice(round % 5, (round % 5) + 2)
    const responses = await Promise.all(changes.map(change => put(api, `/customers/${id}`, change)))
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    )
    const { data } = (await api.get(`/customers/${id}`)).json
    for (const { mobile, ...change } of changes as { mobile?: string }[]) {
      if (mobile !== undefined) assert.equal(data.contact.phones.mobile, mobile)
      assert.partialDeepStrictEqual(data, change)
    }
    // The later change includes the earlier one.
    assert.ok(responses.some(({ json }) => JSON.stringify(json.data) === JSON.stringify(data)))
  }
})

test('ten concurrent changes of ten fields are all stored', async () => {
  const { id } = await createCustomer(api)
  const changes = [
    ...['title', 'firstname', 'surname'].map(name => ({ [name]: `new ${name}` })),
    ...['addressLine1', 'addressLine2', 'city', 'state', 'country'].map(name => ({
      address: { [name]: `new ${name}` },
    })),
    ...['home', 'work'].map((name, i) => ({ contact: { phones: { [name]: `555${i}` } } })),
  ]
  const responses = await Promise.all(changes.map(change => put(api, `/customers/${id}`, change)))
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
  const { data } = (await api.get(`/customers/${id}`)).json
  for (const change of changes) assert.partialDeepStrictEqual(data, change)
})

test('an import that overlaps a change loses no field of it', async () => {
  const { id } = await createCustomer(api)
  const change = { surname: 'Changed', mobile: '0400 999 999' }
  const data = await updateCustomerDuring(api, id, change, () =>
    upsertCustomers(api.db, api.service, [{ id, ecommerceAdminId: 'gid://shop/Customer/1' }]),
  )
  assert.deepEqual(
    [data.surname, data.contact.phones.mobile, data.ecommerceAdminId],
    ['Changed', '0400 999 999', 'gid://shop/Customer/1'],
  )
})

/**
 * Merges rows while a write inserts the customer `id`, and commits the write once the merge waits for it. Returns the
 * customer's record.
 */
async function mergeDuringInsert(id: string, merge: (rows: { id: string; surname: string }[]) => Promise<unknown>) {
  let merging: Promise<unknown> | undefined
  await api.db.transaction(async tx => {
    const customer = { id, firstname: 'John', surname: 'Written', ecommerceAdminId: 'gid://1', emailSubscription: true }
    await mergeCustomers(tx, api.service, [customer])
    merging = merge(['0', id, `${id}0`].map(customerId => ({ id: customerId, surname: 'Pulled' })))
    await waitForBlockedConnections(api)
  })
  await merging
  for (const other of ['0', `${id}0`]) assert.equal((await api.get(`/customers/${other}`)).json.data.surname, 'Pulled')
  return (await api.get(`/customers/${id}`)).json.data
}

test('an import keeps the fields that a concurrent create has just set', async () => {
  const data = await mergeDuringInsert('123', rows => upsertCustomers(api.db, api.service, rows))
  assert.deepEqual(
    [data.firstname, data.surname, data.ecommerceAdminId, data.emailSubscription],
    ['John', 'Pulled', 'gid://1', true],
  )
})

test('a sync updates a new customer only if its query came later', async () => {
  const newer: string[] = []
  const onNewer = (id: string) => newer.push(id)
  const before = await readDatabaseTime(api.db)
  const data = await mergeDuringInsert('124', rows =>
    upsertCustomersUnlessNewer(api.db, api.service, rows, { requestedAt: before, onNewer }),
  )
  assert.deepEqual([data.surname, data.ecommerceAdminId], ['Written', 'gid://1'])
  assert.deepEqual(newer, ['124'])
  const later = await mergeDuringInsert('125', async rows =>
    upsertCustomersUnlessNewer(api.db, api.service, rows, { requestedAt: await readDatabaseTime(api.db), onNewer }),
  )
  assert.deepEqual([later.firstname, later.surname, later.ecommerceAdminId], ['John', 'Pulled', 'gid://1'])
  assert.deepEqual(newer, ['124'])
})

test('one of two concurrent changes with the same If-Match is rejected', async () => {
  const { id } = await createCustomer(api)
  const path = `/customers/${id}`
  for (let round = 0; round < 10; round++) {
    const match = { 'if-match': String((await api.get(path)).headers.etag) }
    const responses = await Promise.all([
      put(api, path, { firstname: `A${round}` }, match),
      put(api, path, { surname: `B${round}` }, match),
    ])
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 412])
  }
})

test('one of several concurrent requests with the same key creates a customer', async () => {
  const body = buildCustomer()
  const before = await countCustomers(api)
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => post(api, '/customers', body, { 'idempotency-key': 'at-once' })),
  )
  const ids = new Set(responses.filter(({ status }) => status === 201).map(({ json }) => json.data.id))
  assert.deepEqual([ids.size, await countCustomers(api)], [1, before + 1])
  for (const { status, json } of responses)
    assert.ok(status === 201 || json.code === 'idempotency_in_progress', JSON.stringify(json))
})
