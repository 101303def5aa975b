import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { insertVouchers } from '../../../src/store/vouchers/vouchers.ts'
import { buildOrder, getCreatedRecord, getStock, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import type { Caller } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

const buildVoucherRow = (number: string, originalAmount: string) => ({
  number,
  pin: '004200',
  state: 'active' as const,
  originalAmount,
  usedAmount: '0.00',
  expiryDate: '2099-12-31',
})
const getValidationId = async (caller: Caller, number: string, amount: string) =>
  (await post(caller, '/vouchers/validate', { number, pin: '004200', amount })).json.data.validationId as string
const getAvailable = async (caller: Caller, number: string) =>
  (await caller.get(`/vouchers/${number}`, { 'x-voucher-pin': '004200' })).json.data.availableAmount

test('a validated voucher pays atomically with the order and only once', async () => {
  const shop = await createShop()
  await insertVouchers(api.db, api.keys, shop.service, [
    buildVoucherRow('900', '50.00'),
    buildVoucherRow('100', '20.00'),
  ])
  const buildBody = async () =>
    buildOrder([{ sku: 'HOOD-S', quantity: 3 }], {
      payments: [
        {
          gateway: 'visa',
          amount: '30.00',
          voucher: { number: '900', validationId: await getValidationId(shop, '900', '30.00') },
        },
        {
          gateway: 'visa',
          amount: '20.00',
          voucher: { number: '100', validationId: await getValidationId(shop, '100', '20.00') },
        },
        { gateway: 'paypal', amount: '39.97' },
      ],
    })
  const first = await buildBody()
  const response = await post(shop, '/orders', first)
  const order = getCreatedRecord(response)
  assert.deepEqual(
    order.payments.map((payment: { voucherNumber: string }) => payment.voucherNumber),
    ['900', '100', null],
  )
  for (const { voucher: payment } of first.payments as { voucher?: { validationId: string } }[])
    if (payment) assert.ok(!response.text.includes(payment.validationId), 'the response contains the validation ID')
  assert.deepEqual([await getAvailable(shop, '900'), await getAvailable(shop, '100')], ['20.00', '0.00'])

  const again = await post(shop, '/orders', first)
  assert.ok(again.status >= 400 && again.status < 500, again.text)
  assert.deepEqual(
    again.json.errors.map((error: { pointer: string }) => error.pointer.split('/').slice(0, 3).join('/')).toSorted(),
    ['/payments/0', '/payments/1'],
  )
  assert.deepEqual([await getAvailable(shop, '900'), await getAvailable(shop, '100')], ['20.00', '0.00'])
  assert.equal((await shop.get('/customers/65432/orders')).json.data.length, 1)
})

test('a failed order restores the full balance of its voucher', async () => {
  const shop = await createShop()
  await insertVouchers(api.db, api.keys, shop.service, [
    buildVoucherRow('300', '10.00'),
    buildVoucherRow('301', '10.00'),
  ])
  const validationId = await getValidationId(shop, '300', '10.00')
  const buildPayment = (number: string, id: string) => ({
    gateway: 'visa',
    amount: '10.00',
    voucher: { number, validationId: id },
  })
  const rejected = await post(
    shop,
    '/orders',
    buildOrder([{ sku: 'TEE', quantity: 2 }], {
      payments: [buildPayment('300', validationId), buildPayment('301', 'not-the-one')],
    }),
  )
  assertProblem(rejected, 'validation_id_incorrect', api.baseUrl, '/orders')
  assert.equal(await getAvailable(shop, '300'), '10.00')
  assert.equal((await getStock(shop))['1002 TEE'], 5)
  getCreatedRecord(
    await post(
      shop,
      '/orders',
      buildOrder([{ sku: 'TEE', quantity: 1 }], { payments: [buildPayment('300', validationId)] }),
    ),
  )
  assert.equal(await getAvailable(shop, '300'), '0.00')
})

test('one of many orders that pay with one validation succeeds', async () => {
  const shop = await createShop()
  await insertVouchers(api.db, api.keys, shop.service, [buildVoucherRow('500', '100.00')])
  const validationId = await getValidationId(shop, '500', '10.00')
  const payments = [{ gateway: 'visa', amount: '10.00', voucher: { number: '500', validationId } }]
  const body = buildOrder([{ sku: 'TEE', quantity: 1 }], { payments })
  const responses = await Promise.all(Array.from({ length: 10 }, () => post(shop, '/orders', body)))
  assert.equal(responses.filter(response => response.status === 201).length, 1)
  for (const { status, text } of responses) assert.ok(status < 500, text)
  assert.equal(await getAvailable(shop, '500'), '90.00')
})

test("an order's payment stores only the number of its voucher", async () => {
  const { columns } = (await api.db.row<{ columns: string[] }>(
    sql`select array_agg(column_name::text order by ordinal_position) as columns from information_schema.columns where table_name = 'order_payment'`,
  )) as { columns: string[] }
  assert.deepEqual(columns, ['service_id', 'order_id', 'sequence', 'gateway', 'amount', 'reference', 'voucher_number'])
})
