import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertRejected, buildCustomer } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const { hat, order, placed, tee, validated, voucher } = await ordersOf(shop)

/** Within what we take, which counts characters, and too long for a back office that counts in UTF-16. */
const long = '🦘'.repeat(40)
const remainder = toDollars(toCents(tee.price) - 100)
const rejectWith = (code: number, description = 'text of the back office') =>
  simulator.faults.add({ kind: 'error', method: 'POST', status: 403, code, description, times: 1 })

test('an upstream error of an order points to its body field', async () => {
  const { billingAddress: _, ...more } = order()
  const billed = (billingAddress: object) => ({ ...more, billingAddress: { ...address, ...billingAddress } })
  for (const [body, code, pointer] of [
    [billed({ addressLine2: long }), 'invalid_field', '/billingAddress/addressLine2'],
    [order({ deliveryAddress: { ...address, city: long } }), 'invalid_field', '/deliveryAddress/city'],
    [order({ payments: [{ gateway: 'wrong', amount: tee.price }] }), 'unknown_gateway', '/payments/0/gateway'],
    [
      order({
        payments: [
          { gateway: 'visa', amount: '1.00' },
          { gateway: 'wrong', amount: remainder },
        ],
      }),
      'unknown_gateway',
      '/payments/1/gateway',
    ],
  ] as const)
    assertRejected(api, await post(api, '/orders', body), code, pointer)
  assert.equal(placed(), 0)
})

test('an unsellable SKU and a wrong total are reported with pointers', async () => {
  const due = toDollars(toCents(tee.price) + toCents(hat.price))
  const two = order({
    lines: [tee, hat].map(({ sku }) => ({ sku, quantity: 1 })),
    payments: [{ gateway: 'visa', amount: due }],
  })
  rejectWith(5129, `SKU is not valid: ${hat.sku}`)
  assertRejected(api, await post(api, '/orders', two), 'unknown_sku', '/lines/1/sku')
  rejectWith(5129)
  assertRejected(api, await post(api, '/orders', two), 'unknown_sku', '/lines')
  rejectWith(5129)
  assertRejected(api, await post(api, '/orders', order()), 'unknown_sku', '/lines/0/sku')
  rejectWith(5026)
  const response = await post(api, '/orders', order())
  assertRejected(api, response, 'payment_total_mismatch', '/payments')
  assert.doesNotMatch(response.text, /text of the back office/)
  rejectWith(5014)
  const withoutMessage = await post(api, '/orders', order())
  assert.deepEqual([withoutMessage.json.code, withoutMessage.json.errors], ['invalid_field', undefined])
})

test('an order rejected upstream is reported as rejected and leaves nothing', async () => {
  const { number, pin } = voucher('6000001')
  const byVoucher = { gateway: 'visa', amount: '1.00', voucher: await validated(number, pin, '1.00') }
  for (const payments of [
    [{ gateway: 'visa', amount: tee.price }],
    [{ gateway: 'visa', amount: remainder }, byVoucher],
  ]) {
    const [body, key] = [order({ payments }), withKey()]
    const before = placed()
    rejectWith(5999)
    assertProblem(await post(api, '/orders', body, key), 'back_office_error', api.baseUrl)
    assert.deepEqual(await api.db.rows(sql`select id from intent`), [])
    assert.equal(placed(), before)
    getCreatedRecord(await post(api, '/orders', body, key))
    assert.equal(placed(), before + 1)
  }
})

test('a customer field too long upstream is reported with its pointer', async () => {
  const body = buildCustomer({ address: { ...address, addressLine1: long } })
  assertRejected(api, await post(api, '/customers', body), 'invalid_field', '/address/addressLine1')
})

test('an upstream rejection of a voucher sale points into the body', async () => {
  const gift = {
    amount: '50.00',
    receiverName: 'Ann Lee',
    receiverEmail: 'refused@example.com',
    senderName: 'John Smith',
    subject: 'A gift for you',
    billingAddress: address,
    gateway: 'visa',
  }
  const sell = (more: object) => post(api, '/vouchers', { ...gift, ...more })
  assertRejected(api, await sell({ gateway: 'wrong' }), 'unknown_gateway', '/gateway')
  const billing = { ...address, addressLine1: long }
  assertRejected(api, await sell({ billingAddress: billing }), 'invalid_field', '/billingAddress/addressLine1')
  const abroad = { ...address, country: 'The United Kingdom of Great Britain' }
  assertRejected(api, await sell({ billingAddress: abroad }), 'invalid_field', '/billingAddress/country')
  assert.equal(placed(), 0)
})
