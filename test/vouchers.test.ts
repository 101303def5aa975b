import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../src/db.ts'
import { insertVouchers, type VoucherRow } from '../src/store/vouchers.ts'
import { startTestService, type TestService } from './service.ts'

let api: TestService

const voucher = (number: string, more: Partial<VoucherRow> = {}): VoucherRow => ({
  number,
  pin: '004200',
  state: 'active',
  originalAmount: '150.00',
  usedAmount: '0.00',
  expiryDate: '2099-12-31',
  ...more,
})

before(async () => {
  api = await startTestService({ settings: { currency: 'AUD' }, role: 'visitor' })
  await insertVouchers(api.db, api.keys, api.service, [
    voucher('100'),
    voucher('101', { usedAmount: '30.50' }),
    voucher('102', { expiryDate: '2020-01-31' }),
    voucher('103', { state: 'suspended' }),
    voucher('104'),
    voucher('105', { state: 'redeemed', usedAmount: '150.00' }),
  ])
})
after(() => api.stop())

const lookUp = (number: string, pin: string | undefined, by: Pick<TestService, 'get'> = api) =>
  by.get(`/vouchers/${number}`, { 'x-voucher-pin': pin })

test('number and PIN open a voucher, and the PIN is not in the answer', async () => {
  const { status, json, text } = await lookUp('100', '004200')
  assert.equal(status, 200)
  assert.deepEqual(json.data, {
    number: '100',
    status: 'active',
    currency: 'AUD',
    originalAmount: '150.00',
    usedAmount: '0.00',
    availableAmount: '150.00',
    expiryDate: '2099-12-31',
    lockedUntil: null,
  })
  assert.doesNotMatch(text, /004200/)
})

test('what was drawn is used, and the rest is available', async () => {
  const { data } = (await lookUp('101', '004200')).json
  assert.deepEqual([data.usedAmount, data.availableAmount], ['30.50', '119.50'])
})

test('nothing is available of a voucher that is past its last day, suspended or redeemed', async () => {
  for (const [number, status] of [
    ['102', 'expired'],
    ['103', 'suspended'],
    ['105', 'redeemed'],
  ] as const) {
    const { data } = (await lookUp(number, '004200')).json
    assert.deepEqual([data.status, data.availableAmount], [status, '0.00'])
  }
})

test('an unknown number, a wrong PIN, no PIN and the number of another service are one and the same answer', async () => {
  const other = await api.tenant()
  const answers = [
    await lookUp('nope', '004200'),
    await lookUp('100', '999999'),
    await lookUp('100', undefined),
    await lookUp('100', '4200'),
    await lookUp('100', '004200', other),
  ]
  const [first, ...more] = answers.map(({ status, json: { requestId: _, instance: __, ...body } }) => ({
    status,
    ...body,
  }))
  assert.equal(first?.status, 403)
  assert.equal(first?.code, 'voucher_not_accepted')
  for (const answer of more) assert.deepEqual(answer, first)
})

test('a PIN in the URL is refused by name', async () => {
  const { status, json } = await api.get('/vouchers/100?pin=004200')
  assert.equal(status, 400)
  assert.equal(json.errors[0].parameter, 'pin')
  assert.doesNotMatch(JSON.stringify(json), /004200/)
})

test('after five wrong PINs the right one is refused too, for a while that grows', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await lookUp('104', '111111')).json.code, 'voucher_not_accepted')
  assert.equal((await lookUp('104', '004200')).json.code, 'voucher_not_accepted')
  const waits = async () =>
    (
      await api.db.row<{ left: number }>(
        sql`select max(extract(epoch from refused_until - now()))::float as left from pin_guard where service_id = ${api.service.id}`,
      )
    )?.left ?? 0
  const first = await waits()
  await lookUp('104', '111111')
  assert.ok((await waits()) > first * 1.5)
  await api.db.run(sql`update pin_guard set refused_until = now() where service_id = ${api.service.id}`)
  assert.equal((await lookUp('104', '004200')).status, 200)
})

test('one address that tries many numbers is told to wait', async () => {
  const answers = []
  for (let i = 0; i < 40; i++) answers.push(await lookUp(`guess-${i}`, '123456'))
  const refused = answers.find(answer => answer.json.code === 'too_many_failures')
  assert.equal(refused?.status, 429)
  assert.match(String(refused?.headers['retry-after']), /^[1-9]\d?$/)
})

test('the ledger cannot be changed, and a balance cannot fall below zero', async () => {
  await assert.rejects(
    api.db.run(sql`update voucher_entry set amount = 999 where service_id = ${api.service.id}`),
    /append-only/,
  )
  await assert.rejects(
    api.db.run(
      sql`insert into voucher_entry (service_id, number, entry, kind, amount) values (${api.service.id}, '101', 3, 'redeem', -119.51)`,
    ),
    /voucher_balance_check/,
  )
})
