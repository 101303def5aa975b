import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import {
  changed,
  created,
  everyPhone,
  everything,
  freshEmail,
  isRefused,
  john,
  startCustomerShop,
} from '../../support/customer-bodies.ts'
import { put } from '../../support/write.ts'

const shop = await startCustomerShop()
after(() => shop.stop())

test('what was read can be sent back as a whole, its time stamp apart', async () => {
  const bare = await shop.tenant({ timeZone: 'Australia/Melbourne' })
  await upsertCustomers(shop.db, bare.service, [
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
    [shop, (await created(shop, john(everything))).id],
  ] as const) {
    const { updateTimeStamp, ...record } = (await caller.get(`/customers/${id}`)).json.data
    isRefused(
      shop,
      await put(caller, `/customers/${id}`, { ...record, updateTimeStamp }),
      'invalid_body',
      '/updateTimeStamp',
    )
    const { updateTimeStamp: _, ...after } = await changed(caller, id, { ...record, title: 'Prof' })
    assert.deepEqual(after, { ...record, title: 'Prof' })
  }
})

test('an empty text in an optional field is null', async () => {
  const none = { title: '', mobile: '', dateOfBirth: '', address: { addressLine2: '', city: '' } }
  const phones = { home: '', mobile: '', work: '' }
  const fresh = john(none)
  const made = await created(shop, { ...fresh, contact: { ...fresh.contact, phones } })
  const { id } = await created(shop, john({ ...everything, contact: { email: freshEmail(), phones: everyPhone } }))
  const cleared = await changed(shop, id, { ...none, contact: { phones } })
  for (const data of [made, cleared]) {
    assert.deepEqual(
      [data.title, data.dateOfBirth, data.address.city, data.address.addressLine2],
      [null, null, null, null],
    )
    assert.deepEqual(data.contact.phones, { home: null, mobile: null, work: null })
  }
  assert.equal(cleared.address.addressLine1, everything.address.addressLine1)
})
