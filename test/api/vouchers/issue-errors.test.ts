import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { assertProblem, getErrorDetails, getFieldErrors } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { countRows, issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'maintainer' })
await stockGiftCards(api, api)
after(() => api.stop())

const toDay = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()

test('each missing setting is named and nothing is created', async () => {
  const cases: [Record<string, unknown>, string[]][] = [
    [
      { vouchersEnabled: false, giftCardSku: null, voucherType: null },
      ['vouchersEnabled', 'voucherType', 'giftCardSku'],
    ],
    [{ vouchersEnabled: false }, ['vouchersEnabled']],
    [{ voucherType: null }, ['voucherType']],
    [{ giftCardSku: null }, ['giftCardSku']],
    [{ giftCardSku: 'giftcard' }, ['giftCardSku']],
    [{ giftCardSku: 'giftcard', vouchersEnabled: false }, ['vouchersEnabled', 'giftCardSku']],
  ]
  for (const [settings, names] of cases) {
    const shop = await api.createService({ ...voucherSettings, ...settings })
    await stockGiftCards(api, shop)
    const { status, json } = await issueVoucher(shop)
    assert.equal(status, 409)
    assert.equal(json.code, 'voucher_not_configured')
    assert.equal(json.errors.length, names.length, JSON.stringify(json))
    for (const [i, name] of names.entries()) {
      assert.equal(json.errors[i].code, 'voucher_not_configured')
      assert.match(json.errors[i].detail, new RegExp(`\`${name}\``))
    }
    assert.equal(await countRows(api, 'voucher', shop), 0)
    assert.equal(await countRows(api, 'email', shop), 0)
  }
})

test('a gateway must match a configured one exactly', async () => {
  for (const gateway of ['stripe', 'PayPal', 'pаypal', 'paypal ', 'paypal\u200b']) {
    const response = await issueVoucher(api, { gateway })
    assertProblem(response, 'unknown_gateway', api.baseUrl, '/vouchers')
    assert.deepEqual(getFieldErrors(response), ['/gateway unknown_gateway'])
    assert.match(response.json.detail, /`paypal`, `visa`/)
  }
})

test('a voucher without a gateway uses the default, which must be set', async () => {
  const getGateway = async (number: string) =>
    (await api.db.row<{ gateway: string | null }>(sql`select gateway from voucher_sale where number = ${number}`))
      ?.gateway
  for (const gateway of [undefined, null, '']) {
    const response = await issueVoucher(api, { gateway, currency: null })
    assert.equal(response.status, 201, response.text)
    assert.equal(await getGateway(response.json.data.number), null)
  }
  const shop = await api.createService({ ...voucherSettings, voucherGateway: 'stripe' })
  await stockGiftCards(api, shop)
  const caller = await api.createAccount('maintainer', shop.service)
  const rejected = await issueVoucher(caller, { gateway: undefined })
  assertProblem(rejected, 'voucher_not_configured', api.baseUrl, '/vouchers')
  assert.match(rejected.json.detail, /^Payment gateway `stripe` .* not found\.$/)
  await upsertGateways(api.db, shop.service, [{ name: 'stripe' }])
  assert.equal(await getGateway((await issueVoucher(caller, { gateway: undefined })).json.data.number), 'stripe')
  assert.equal(await getGateway((await issueVoucher(caller, { gateway: 'paypal' })).json.data.number), 'paypal')
})

test('all errors of a voucher are reported at once', async () => {
  const response = await issueVoucher(api, {
    amount: '0.00',
    currency: 'USD',
    gateway: 'cash',
    deliveryDate: '2020-02-29',
    billingAddress: { city: ' ', country: null },
  })
  assertProblem(response, 'invalid_field', api.baseUrl, '/vouchers')
  assert.deepEqual(getFieldErrors(response), [
    '/amount invalid_field',
    '/currency invalid_field',
    '/gateway unknown_gateway',
    '/deliveryDate invalid_field',
    '/billingAddress invalid_field',
  ])
  const shape = await post(api, '/vouchers', { amount: 150, pin: '123456', balance: '9.00' })
  assertProblem(shape, 'invalid_body', api.baseUrl, '/vouchers')
  const pointers = getFieldErrors(shape).map(error => error.split(' ')[0])
  for (const field of [
    'amount',
    'pin',
    'balance',
    'receiverName',
    'receiverEmail',
    'senderName',
    'subject',
    'billingAddress',
  ])
    assert.ok(pointers.includes(`/${field}`), field)
})

test("an amount must be a positive, plausible string with the currency's decimals", async () => {
  const before = await countRows(api, 'voucher')
  for (const amount of ['-1.00', '0.00', '0.001', '100', '1000000000.00', '100000.01', 'NaN', '1e3', '١.00'])
    assertProblem(await issueVoucher(api, { amount }), 'invalid_field', api.baseUrl, '/vouchers')
  for (const amount of [100.1, 100, null, ['100.00']])
    assertProblem(await issueVoucher(api, { amount }), 'invalid_body', api.baseUrl)
  assert.equal(await countRows(api, 'voucher'), before)
  for (const amount of ['0.01', '100.10', '100000.00']) {
    const { data } = (await issueVoucher(api, { amount, currency: 'AUD' })).json
    assert.deepEqual([data.originalAmount, data.availableAmount], [amount, amount])
  }
  const yen = await api.createService({ ...voucherSettings, currency: 'JPY' })
  const caller = await api.createAccount('maintainer', yen.service)
  await stockGiftCards(api, caller)
  const rejected = await issueVoucher(caller, { amount: '5000.00' })
  assertProblem(rejected, 'invalid_field', api.baseUrl)
  assert.deepEqual(getErrorDetails(rejected), ['`amount` must be an amount in JPY with 0 decimals, for example "150".'])
  assert.equal((await issueVoucher(caller, { amount: '5000' })).json.data.availableAmount, '5000')
})

test("the email date must be from today to the voucher's last day", async () => {
  for (const deliveryDate of [toDay(0), toDay(30), null, ''])
    assert.equal((await issueVoucher(api, { deliveryDate })).status, 201)
  for (const deliveryDate of [toDay(-1), '2023-02-30', '2024-13-01', toDay(365 * 4), 'tomorrow'])
    assertProblem(await issueVoucher(api, { deliveryDate }), 'invalid_field', api.baseUrl, '/vouchers')
})

test('an email header contains no line break or second address', async () => {
  for (const unsafe of [
    'Ann\r\nBcc: thief@example.com',
    'Ann\nLee',
    'Ann\rLee',
    'Ann\u2028Lee',
    'Ann\u0000',
    '\u202eeeL',
    ' ',
    '',
  ])
    for (const field of ['receiverName', 'senderName', 'subject']) {
      const response = await issueVoucher(api, { [field]: unsafe })
      assertProblem(response, 'invalid_field', api.baseUrl, '/vouchers')
      assert.deepEqual(getFieldErrors(response), [`/${field} invalid_field`])
    }
  for (const receiverEmail of [
    'ann@example.com\r\nBcc: thief@example.com',
    'ann@example.com, thief@example.com',
    'ann@example.com;thief@example.com',
    '"Ann" <ann@example.com>',
    'ann@example.com ',
    'ann@@example.com',
    'ann@127.0.0.1',
    'ann',
  ])
    assertProblem(await issueVoucher(api, { receiverEmail }), 'invalid_field', api.baseUrl, '/vouchers')
  assertProblem(await issueVoucher(api, { message: `${'x'.repeat(1_000)}x` }), 'invalid_field', api.baseUrl)
  assertProblem(await issueVoucher(api, { message: 'a\u0007' }), 'invalid_field', api.baseUrl)
  for (const mobile of ['call me', '1', `+${'9'.repeat(60)}`])
    assertProblem(await issueVoucher(api, { mobile }), 'invalid_field', api.baseUrl)
  const valid = await issueVoucher(api, {
    receiverName: '安妮 <b>"Lee"</b>, ',
    subject: 'Bcc: thief@example.com',
    mobile: '+61 491 570 006',
  })
  assert.equal(valid.status, 201, 'a header name in a text must be allowed')
})
