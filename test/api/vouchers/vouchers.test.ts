import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials, startSecondServer } from '../../support/servers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { addVouchers, clearFailures, waitForMinuteStart } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { currency: 'AUD', readsPerMinute: 'off' }, role: 'visitor' })
await addVouchers(api, api, {
  100: {},
  101: { usedAmount: '30.50' },
  102: { expiryDate: '2020-01-31' },
  103: { state: 'suspended' },
  104: {},
  105: { state: 'redeemed', usedAmount: '150.00' },
  106: {},
})
after(() => api.stop())
beforeEach(() => clearFailures(api))

const lookUp = (number: string, pin: string | undefined, caller: Pick<TestApi, 'get'> = api) =>
  caller.get(`/vouchers/${number}`, { 'x-voucher-pin': pin })

test('a number and PIN return the voucher without the PIN', async () => {
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
    email: null,
  })
  assert.doesNotMatch(text, /004200/)
})

test('drawn amounts are used and the rest is available', async () => {
  const { data } = (await lookUp('101', '004200')).json
  assert.deepEqual([data.usedAmount, data.availableAmount], ['30.50', '119.50'])
})

test('an expired, suspended or redeemed voucher has nothing available', async () => {
  for (const [number, status] of [
    ['102', 'expired'],
    ['103', 'suspended'],
    ['105', 'redeemed'],
  ] as const) {
    const { data } = (await lookUp(number, '004200')).json
    assert.deepEqual([data.status, data.availableAmount], [status, '0.00'])
  }
})

test('an unknown number, wrong PIN and foreign number get the same response', async () => {
  const other = await api.createService()
  const responses = [
    await lookUp('nope', '004200'),
    await lookUp('100', '999999'),
    await lookUp('100', '4200'),
    await lookUp('100', '004200', other),
  ]
  const [first, ...more] = responses.map(({ status, json: { requestId: _, instance: __, ...body } }) => ({
    status,
    ...body,
  }))
  assert.equal(first?.status, 403)
  assert.equal(first?.code, 'voucher_not_accepted')
  for (const response of more) assert.deepEqual(response, first)
})

test('a missing or malformed PIN does not count as a wrong PIN', async () => {
  for (const invalidPin of [undefined, '', '1'.repeat(51)])
    for (let i = 0; i < 3; i++) {
      const { status, json } = await lookUp('104', invalidPin)
      assert.deepEqual([status, json.code, json.errors[0].parameter], [400, 'invalid_parameter', 'X-Voucher-Pin'])
    }
  assert.equal((await lookUp('104', '004200')).status, 200)
})

test('a PIN in the URL is rejected by name', async () => {
  const { status, json } = await api.get('/vouchers/100?pin=004200')
  assert.equal(status, 400)
  assert.equal(json.errors[0].parameter, 'pin')
  assert.doesNotMatch(JSON.stringify(json), /004200/)
})

test('five wrong PINs block the right one for a growing time', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await lookUp('104', '111111')).json.code, 'voucher_not_accepted')
  assert.equal((await lookUp('104', '004200')).json.code, 'voucher_not_accepted')
  const getRemainingSeconds = async () =>
    (
      await api.db.row<{ remaining: number }>(
        sql`select max(extract(epoch from blocked_until - now()))::float as remaining from pin_guard where service_id = ${api.service.id}`,
      )
    )?.remaining ?? 0
  const first = await getRemainingSeconds()
  await lookUp('104', '111111')
  assert.ok((await getRemainingSeconds()) > first * 1.5)
  await api.db.run(sql`update pin_guard set blocked_until = now() where service_id = ${api.service.id}`)
  assert.equal((await lookUp('104', '004200')).status, 200)
})

test('an address that tries many numbers is blocked until the minute ends', async () => {
  const second = await startSecondServer(api)
  try {
    await waitForMinuteStart(api)
    for (let i = 0; i < 30; i++) assert.equal((await lookUp(`guess-${i}`, '123456')).status, 403)
    for (const response of [
      await lookUp('guess-30', '123456'),
      await lookUp('100', '004200'),
      await post(api, '/vouchers/lookup', { number: '100', pin: '004200' }),
      await post(api, '/vouchers/validate', { number: '100', pin: '004200', amount: '1.00' }),
    ]) {
      assertProblem(response, 'too_many_failures', api.baseUrl)
      assert.match(String(response.headers['retry-after']), /^[1-9]\d?$/)
    }
    const headers = { ...buildCredentials(api), 'x-voucher-pin': '004200' }
    assert.equal(
      (await second.sendRequest('/vouchers/100', { headers })).status,
      429,
      'the block must apply to all servers',
    )
    assert.equal(
      (await second.sendRequest('/vouchers/100', { headers, from: '127.0.0.2' })).status,
      200,
      'other addresses must not be blocked',
    )
    const other = await api.createService()
    await addVouchers(api, other, { 100: {} })
    assert.equal((await lookUp('100', '004200', other)).status, 200, 'other services must not be blocked')
    const alert = await api.db.row(
      sql`select subject, times from alert where service_id = ${api.service.id} and kind = 'voucher_pin_guessing_by_ip'`,
    )
    assert.deepEqual(alert, { subject: '', times: 1 })
  } finally {
    await second.stop()
  }
})

test('PIN guessing raises an alert, also for an unknown number', async () => {
  for (const number of ['106', 'no-106']) {
    for (let i = 0; i < 6; i++) await lookUp(number, '111111')
    const alert = await api.db.row<{ times: number; detail: string }>(sql`
      select times, detail from alert where service_id = ${api.service.id} and kind = 'voucher_pin_guessing' and subject = ${number}`)
    assert.equal(alert?.times, 2)
    assert.doesNotMatch(alert?.detail ?? '', /111111|004200/)
  }
})

test('concurrent guesses get no more attempts than sequential ones', async () => {
  await addVouchers(api, api, { race: {} })
  let opened = 0
  for (let round = 0; round < 20; round++) {
    await clearFailures(api)
    const guesses = Array.from({ length: 12 }, (_, i) => (i === round % 6 ? '004200' : `${100_000 + i}`))
    const responses = await Promise.all(
      guesses.map(guess => post(api, '/vouchers/lookup', { number: 'race', pin: guess })),
    )
    const { failures = 0 } =
      (await api.db.row<{ failures: number }>(
        sql`select failures from pin_guard where service_id = ${api.service.id}`,
      )) ?? {}
    // The right PIN is accepted if at most four wrong PINs came before it. It clears their failures, and later wrong PINs
    // are counted.
    if (responses.some(({ status }) => status === 200)) {
      opened++
      assert.ok(failures >= 7, `${failures}`)
    } else assert.equal(failures, 12)
  }
  assert.ok(opened > 0)
})

test('a number and PIN must match exactly', async () => {
  const number = `N${'0'.repeat(46)} 7 `
  await addVouchers(api, api, { [number]: { pin: ' 0042 ' }, '0042': { pin: '0042' }, '042': { pin: '42' } })
  const lookUpByPost = (input: string, pin: string) => post(api, '/vouchers/lookup', { number: input, pin })
  assert.equal((await lookUpByPost(number, ' 0042 ')).json.data.number, number)
  assert.equal((await lookUpByPost('0042', '0042')).json.data.number, '0042')
  for (const [input, pin] of [
    [number, '0042'],
    [number.trim(), ' 0042 '],
    ['0042', '42'],
    ['42', '0042'],
    ['042', '042'],
    ['n0042', '0042'],
    ['0042', '００４２'],
    ['0042', "' or 1=1 --"],
    ['%', '0042'],
  ] as const)
    assertProblem(await lookUpByPost(input, pin), 'voucher_not_accepted', api.baseUrl, '/vouchers/lookup')
  for (const body of [
    { number: 42, pin: '42' },
    { number: '0042', pin: 42 },
    { number: '0042' },
    { number: '0042', pin: '1', x: 1 },
    [],
  ])
    assertProblem(await post(api, '/vouchers/lookup', body), 'invalid_body', api.baseUrl, '/vouchers/lookup')
  for (const body of [
    { number: '', pin: '1' },
    { number: '1', pin: '' },
    { number: '1', pin: '1'.repeat(51) },
    { number: 'x\u0000', pin: '1' },
  ])
    assertProblem(await post(api, '/vouchers/lookup', body), 'invalid_field', api.baseUrl, '/vouchers/lookup')
})

test('the database rejects ledger changes and negative balances', async () => {
  await assert.rejects(
    api.db.run(sql`update voucher_entry set amount = 999 where service_id = ${api.service.id}`),
    /append-only/,
  )
  await assert.rejects(
    api.db.run(
      sql`insert into voucher_entry (service_id, number, entry, kind, amount, state) values (${api.service.id}, '101', 4, 'redeem', -119.51, 'active')`,
    ),
    /voucher_balance_check/,
  )
})
