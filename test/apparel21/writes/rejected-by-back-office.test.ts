import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertRejected, buildCustomer } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { hat, buildOrder, countPlaced, tee, validateVoucher, findVoucher } = await createOrderFixture(shop)

/** Short enough for our limit, which counts characters, and too long for a back office that counts UTF-16 units. */
const long = '🦘'.repeat(40)
const remainder = toDollars(toCents(tee.price) - 100)
const rejectWith = (code: number, description = 'text of the back office') =>
  simulator.faults.add({ kind: 'error', method: 'POST', status: 403, code, description, times: 1 })

test('an upstream error of an order points to its body field', async () => {
  const { billingAddress: _, ...more } = buildOrder()
  const billTo = (billingAddress: object) => ({ ...more, billingAddress: { ...address, ...billingAddress } })
  for (const [body, code, pointer] of [
    [billTo({ addressLine2: long }), 'invalid_field', '/billingAddress/addressLine2'],
    [buildOrder({ deliveryAddress: { ...address, city: long } }), 'invalid_field', '/deliveryAddress/city'],
    [buildOrder({ payments: [{ gateway: 'wrong', amount: tee.price }] }), 'unknown_gateway', '/payments/0/gateway'],
    [
      buildOrder({
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
  assert.equal(countPlaced(), 0)
})

test('an unsellable SKU and a wrong total are reported with pointers', async () => {
  const amountDue = toDollars(toCents(tee.price) + toCents(hat.price))
  const two = buildOrder({
    lines: [tee, hat].map(({ sku }) => ({ sku, quantity: 1 })),
    payments: [{ gateway: 'visa', amount: amountDue }],
  })
  rejectWith(5129, `SKU is not valid: ${hat.sku}`)
  assertRejected(api, await post(api, '/orders', two), 'unknown_sku', '/lines/1/sku')
  rejectWith(5129)
  assertRejected(api, await post(api, '/orders', two), 'unknown_sku', '/lines')
  rejectWith(5129)
  assertRejected(api, await post(api, '/orders', buildOrder()), 'unknown_sku', '/lines/0/sku')
  rejectWith(5026)
  const response = await post(api, '/orders', buildOrder())
  assertRejected(api, response, 'payment_total_mismatch', '/payments')
  assert.doesNotMatch(response.text, /text of the back office/)
  rejectWith(5014)
  const withoutMessage = await post(api, '/orders', buildOrder())
  assert.deepEqual([withoutMessage.json.code, withoutMessage.json.errors], ['invalid_field', undefined])
})

test('an order rejected upstream is reported as rejected and leaves nothing', async () => {
  const { number, pin } = findVoucher('6000001')
  const byVoucher = { gateway: 'visa', amount: '1.00', voucher: await validateVoucher(number, pin, '1.00') }
  for (const payments of [
    [{ gateway: 'visa', amount: tee.price }],
    [{ gateway: 'visa', amount: remainder }, byVoucher],
  ]) {
    const [body, key] = [buildOrder({ payments }), withKey()]
    const before = countPlaced()
    rejectWith(5999)
    assertProblem(await post(api, '/orders', body, key), 'back_office_error', api.baseUrl)
    assert.deepEqual(await api.db.rows(sql`select id from intent`), [])
    assert.equal(countPlaced(), before)
    getCreatedRecord(await post(api, '/orders', body, key))
    assert.equal(countPlaced(), before + 1)
  }
})

test('a customer field too long upstream is reported with its pointer', async () => {
  const body = buildCustomer({ address: { ...address, addressLine1: long } })
  assertRejected(api, await post(api, '/customers', body), 'invalid_field', '/address/addressLine1')
})

test('an upstream rejection of a voucher sale points into the body', async () => {
  const postGift = (more: object) => post(api, '/vouchers', { ...gift, ...more })
  assertRejected(api, await postGift({ gateway: 'wrong' }), 'unknown_gateway', '/gateway')
  const billing = { ...address, addressLine1: long }
  assertRejected(api, await postGift({ billingAddress: billing }), 'invalid_field', '/billingAddress/addressLine1')
  const abroad = { ...address, country: 'The United Kingdom of Great Britain' }
  assertRejected(api, await postGift({ billingAddress: abroad }), 'invalid_field', '/billingAddress/country')
  assert.equal(countPlaced(), 0)
})
