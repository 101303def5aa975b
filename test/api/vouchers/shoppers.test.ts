import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { setTrustsShopperIp } from '../../../src/store/accounts/accounts.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { addVouchers, clearFailures, pin, voucherSettings, waitForMinuteStart } from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'visitor' })
await addVouchers(api, api, { mine: {}, yours: {} })
/** The account of a web shop, whose shoppers all come from one address. */
const caller = await api.createAccount('visitor')
await setTrustsShopperIp(api.db, caller.username, true)
after(() => api.stop())
beforeEach(async () => {
  await waitForMinuteStart(api)
  await clearFailures(api)
})

const toShopperHeader = (shopper: string) => ({ 'x-shopper-ip': shopper })
const lookUp = (number: string, input: string, shopper: string, account: Caller = caller) =>
  account.get(`/vouchers/${number}`, { 'x-voucher-pin': input, ...toShopperHeader(shopper) })
/** Tries many voucher numbers. Asserts that each one is rejected. */
const guess = async (times: number, toShopper: (i: number) => string, account: Caller = caller) => {
  const guesses = Array.from({ length: times }, (_, i) => lookUp(`guess-${i}`, '000000', toShopper(i), account))
  for (const { status } of await Promise.all(guesses)) assert.equal(status, 403)
}

test('a guessing shopper is blocked without blocking other shoppers of the account', async () => {
  await guess(30, () => '203.0.113.7')
  assertProblem(await lookUp('mine', pin, '203.0.113.7'), 'too_many_failures', api.baseUrl)
  const body = { number: 'mine', pin, amount: '1.00' }
  assertProblem(
    await post(caller, '/vouchers/validate', body, toShopperHeader('203.0.113.7')),
    'too_many_failures',
    api.baseUrl,
  )
  assert.equal((await lookUp('mine', pin, '203.0.113.8')).status, 200)
  const validated = await post(caller, '/vouchers/validate', body, toShopperHeader('203.0.113.8'))
  assert.equal(validated.status, 200)
  const { validationId } = validated.json.data
  assert.equal((await put(caller, '/vouchers/mine/lock', { validationId }, toShopperHeader('203.0.113.8'))).status, 200)
  await put(caller, '/vouchers/mine/lock', { validationId, lockSeconds: 0 })
  assert.equal(
    (await caller.get('/vouchers/mine', { 'x-voucher-pin': pin })).status,
    200,
    'a request without a shopper address',
  )
  assert.equal((await api.get('/vouchers/mine', { 'x-voucher-pin': pin })).status, 200, 'another account')
})

test('a shopper is counted separately for each account', async () => {
  const other = await api.createAccount('visitor')
  await setTrustsShopperIp(api.db, other.username, true)
  await guess(30, () => '203.0.113.7')
  assert.equal((await lookUp('mine', pin, '203.0.113.7', other)).status, 200)
})

test("a client that fakes many addresses is blocked by the account's limit", async () => {
  const forger = await api.createAccount('visitor')
  await setTrustsShopperIp(api.db, forger.username, true)
  await guess(300, i => `198.51.100.${i % 200}`, forger)
  assertProblem(await lookUp('mine', pin, '192.0.2.1', forger), 'too_many_failures', api.baseUrl)
  assert.equal((await lookUp('mine', pin, '192.0.2.1')).status, 200)
  const alert = await api.db.row(
    sql`select subject, times from alert where service_id = ${api.service.id} and kind = 'voucher_pin_guessing_by_account'`,
  )
  assert.deepEqual(alert, { subject: forger.username, times: 1 })
})

test('a voucher counts its wrong PINs across shoppers', async () => {
  for (let i = 0; i < 5; i++) await lookUp('yours', '111111', `203.0.113.${i}`)
  assertProblem(await lookUp('yours', pin, '203.0.113.99'), 'voucher_not_accepted', api.baseUrl)
})

test('one IPv6 network or any spelling of an address is one shopper', async () => {
  await guess(30, i => `2001:db8:1:2::${i.toString(16)}`)
  assertProblem(await lookUp('mine', pin, '2001:DB8:1:2:ffff::1'), 'too_many_failures', api.baseUrl)
  assert.equal((await lookUp('mine', pin, '2001:db8:1:3::1')).status, 200)
  await guess(30, i => (i % 2 ? '203.0.113.7' : '::ffff:203.0.113.7'))
  assertProblem(await lookUp('mine', pin, '203.0.113.7'), 'too_many_failures', api.baseUrl)
})

for (const invalid of ['', 'localhost', '203.0.113.7, 203.0.113.8', '203.0.113', '203.0.113.7:443', 'fe80::1%eth0'])
  test(`\`X-Shopper-IP: ${invalid}\` is rejected by name for every account`, async () => {
    for (const account of [caller, api]) {
      const response = await lookUp('mine', pin, invalid, account)
      assertProblem(response, 'invalid_parameter', api.baseUrl)
      assert.deepEqual(response.json.errors, [
        { parameter: 'X-Shopper-IP', code: 'invalid_parameter', detail: '`X-Shopper-IP` must be one IP address.' },
      ])
    }
  })

test('an account without shopper trust is counted by its own address', async () => {
  await guess(30, i => `203.0.113.${i}`, api)
  assertProblem(await lookUp('mine', pin, '203.0.113.99', api), 'too_many_failures', api.baseUrl)
})
