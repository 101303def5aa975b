import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Check } from 'typebox/value'
import { PersonalData } from '../../../src/domain/privacy/personal-data.ts'
import { fillShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { put, remove } from '../../support/write.ts'
import { addTillSales, createCanaryShopper, findRows } from './canary-shopper.ts'

const api = await startTestApi({ settings: voucherSettings })
await fillShop(api.db, api.service)
await stockGiftCards(api, api)
after(() => api.stop())

test('a personal data export contains everything about one person only', async () => {
  const { id, email, placed, voucher } = await createCanaryShopper(api)
  const other = await createCanaryShopper(api)
  await addTillSales(api, api, id, 150)
  const response = await api.get(`/customers/${id}/export`)
  assert.equal(response.status, 200, response.text)
  const { data } = response.json
  const isValid: boolean = Check(PersonalData, data)
  assert.ok(isValid)
  const { updateTimeStamp: _, ...current } = (await api.get(`/customers/${id}`)).json.data
  const { updateTimeStamp: __, ...exported } = data.customer
  assert.deepEqual(exported, current)
  assert.deepEqual(
    data.consent.map(({ channel, oldValue: old, newValue: now, username }: Record<string, unknown>) => [
      channel,
      old,
      now,
      username,
    ]),
    [
      ['marketing', null, true, api.username],
      ['email', null, true, api.username],
      ['sms', null, false, api.username],
    ],
  )
  assert.deepEqual([data.orders.length, data.orders[0].id], [1, placed.id])
  assert.equal(data.orders[0].deliveryAddress.contactName, 'Canary Contact')
  assert.equal(data.returns[0].lines[0].notes, 'Canary did not like it.')
  assert.equal(data.transactions.length, 152)
  assert.equal(data.rewardAccount.customerId, id)
  assert.deepEqual(
    [data.vouchers.length, data.vouchers[0].number, data.vouchers[0].receiverEmail.toLowerCase()],
    [3, voucher.number, email],
  )
  assert.deepEqual(
    data.vouchers[0].emails.map(({ status, sentAt }: Record<string, unknown>) => [status, sentAt]),
    [['queued', null]],
  )
  assert.ok(!response.text.includes(other.email) && !response.text.includes(other.id))
  assert.doesNotMatch(response.text, new RegExp(`"pin"|${voucher.pin}`))
  // The export contains every table with unencrypted text of the person.
  const tables = new Set((await findRows(api, 'canary')).map(match => match.split(':')[0]))
  assert.deepEqual(
    [...tables],
    ['customer', 'order_payment', 'retail_transaction', 'return_line', 'sales_order', 'voucher_sale'],
  )
})

test('a personal data export is current and only for admins', async () => {
  const { id } = await createCanaryShopper(api)
  const path = `/customers/${id}/export`
  await put(api, `/customers/${id}`, { emailSubscription: false })
  assert.equal((await api.get(path)).json.data.consent.length, 4)
  assertProblem(await (await api.createAccount('maintainer')).get(path), 'insufficient_role', api.baseUrl)
  assertProblem(await (await api.createService()).get(path), 'not_found', api.baseUrl)
  await remove(api, `/customers/${id}`)
  assertProblem(await api.get(path), 'not_found', api.baseUrl)
  assertProblem(await api.get('/customers/nobody/export'), 'not_found', api.baseUrl)
})
