import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
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
import { put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

test('a record can be sent back as read, without its timestamp', async () => {
  const bare = await api.createService({ timeZone: 'Australia/Melbourne' })
  await upsertCustomers(api.db, bare.service, [
    {
      id: '7',
      loyaltyCode: '99',
      loyaltyName: 'Gold',
      joinedStoreId: '4983',
      ecommerceAdminId: 'gid://shop/Customer/7',
    },
  ])
  for (const [caller, id] of [
    [bare, '7'],
    [api, (await createCustomer(api, buildCustomer(allCustomerFields))).id],
  ] as const) {
    const { updateTimeStamp, ...record } = (await caller.get(`/customers/${id}`)).json.data
    assertRejected(
      api,
      await put(caller, `/customers/${id}`, { ...record, updateTimeStamp }),
      'invalid_body',
      '/updateTimeStamp',
    )
    const { updateTimeStamp: _, ...updated } = await updateCustomer(caller, id, { ...record, title: 'Prof' })
    assert.deepEqual(updated, { ...record, title: 'Prof' })
  }
})

test('a stored value that a body cannot introduce can be sent back', async () => {
  const bare = await api.createService({ timeZone: 'Australia/Melbourne' })
  await upsertCustomers(api.db, bare.service, [
    {
      id: '8',
      firstname: '\u202eJo',
      surname: 'x'.repeat(60),
      email: 'jo at example.com',
      phoneHome: '0400 1 ext 2',
      phoneMobile: '12',
      dateOfBirth: '1899-12-30',
      postcode: '3000 Melbourne',
    },
  ])
  const { updateTimeStamp: _, ...record } = (await bare.get('/customers/8')).json.data
  const { updateTimeStamp: __, ...updated } = await updateCustomer(bare, '8', { ...record, title: 'Dr' })
  assert.deepEqual(updated, { ...record, title: 'Dr' })

  const { contact, address } = record
  const exchanged = { ...contact.phones, home: contact.phones.mobile, work: contact.phones.home }
  const change = {
    ...record,
    surname: `${record.surname}x`,
    dateOfBirth: '1899-12-30',
    contact: { email: 'Jo at example.com', phones: exchanged },
    address: { ...address, city: 'y'.repeat(60) },
  }
  assertRejected(
    api,
    await put(bare, '/customers/8', change),
    'invalid_field',
    ...['/surname', '/contact/email', '/contact/phones/home', '/contact/phones/work', '/address/city'],
  )
  assertRejected(api, await put(bare, '/customers/8', { dateOfBirth: '1899-12-31' }), 'invalid_field', '/dateOfBirth')
  assertRejected(api, await put(bare, '/customers/8', { ...record, code: 7 }), 'invalid_body', '/code')
  assertRejected(api, await put(bare, '/customers/9', { dateOfBirth: '1899' }), 'invalid_field', '/dateOfBirth')
})

test('an empty string in an optional field becomes null', async () => {
  const emptyFields = { title: '', mobile: '', dateOfBirth: '', address: { addressLine2: '', city: '' } }
  const phones = { home: '', mobile: '', work: '' }
  const fresh = buildCustomer(emptyFields)
  const created = await createCustomer(api, { ...fresh, contact: { ...fresh.contact, phones } })
  const { id } = await createCustomer(
    api,
    buildCustomer({ ...allCustomerFields, contact: { email: newEmail(), phones: allPhones } }),
  )
  const cleared = await updateCustomer(api, id, { ...emptyFields, contact: { phones } })
  for (const data of [created, cleared]) {
    assert.deepEqual(
      [data.title, data.dateOfBirth, data.address.city, data.address.addressLine2],
      [null, null, null, null],
    )
    assert.deepEqual(data.contact.phones, { home: null, mobile: null, work: null })
  }
  assert.equal(cleared.address.addressLine1, allCustomerFields.address.addressLine1)
})
