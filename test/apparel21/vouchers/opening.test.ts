import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import type { ErrorCode } from '../../../src/errors/api-error.ts'
import { connectToBackOffice } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { clearFailures, getRejection, lockVoucher } from '../../support/voucher-shop.ts'
import { countValidations, getValidationId, lookUp, number, pin, startVoucherFixture, validate } from './vouchers.ts'

const { simulator, api, findVoucher, startSecondServer } = await startVoucherFixture()
const { second, other } = await startSecondServer()

test("a number and PIN return the back office's current voucher", async () => {
  const { status, json, text } = await lookUp(api, '6000002', '0042')
  assert.equal(status, 200)
  const { expiryDate, ...voucher } = json.data
  assert.deepEqual(voucher, {
    number: '6000002',
    status: 'active',
    currency: 'AUD',
    lockedUntil: null,
    email: null,
    originalAmount: '50.00',
    usedAmount: '10.50',
    availableAmount: '39.50',
  })
  assert.match(expiryDate, /^\d{4}-\d\d-\d\d$/)
  assert.doesNotMatch(text, /0042/)
  simulator.change({ kind: 'edit-voucher', number: '6000002', fields: { used: 20 } })
  const get = await api.get('/vouchers/6000002', { 'x-voucher-pin': '0042' })
  assert.equal(get.json.data.availableAmount, '30.00')
})

test('an unknown number, wrong PIN and malformed number get the same response', async () => {
  const guesses = [
    ...([
      ['999', '1'],
      [number, '9999'],
      ['6000002', '42'],
      ['6000008', '1'],
      ['6000005', '5555'],
    ] as const),
    ...([
      ['..', '1'],
      ['GVValid', '1'],
      ['6000001/', pin],
      ['6000001?x', pin],
      [' 6000001', pin],
      ['６０００００１', pin],
    ] as const),
  ]
  const responses: object[] = []
  for (const [input, usedPin] of guesses) responses.push(getRejection(await lookUp(api, input, usedPin)))
  for (const response of responses) assert.deepEqual(response, responses[0])
  assert.equal((responses[0] as { code: string }).code, 'voucher_not_accepted')
  assert.deepEqual(getRejection(await validate(api, '10.00', number, '9999')), responses[0])
})

test('a voucher with another number than requested is not returned', async () => {
  // A back office that ignores case or leading zeros would otherwise allow guesses under many names.
  simulator.state.vouchers.set('A1', { ...findVoucher(number), number: 'a1' })
  assertProblem(await lookUp(api, 'A1'), 'voucher_not_accepted', api.baseUrl)
})

test('each voucher problem has its own error', async () => {
  const cases: [string, string, ErrorCode, string?][] = [
    ['6000003', '3333', 'voucher_unusable', 'redeemed'],
    ['6000004', '4444', 'voucher_unusable', 'not issued'],
    ['6000006', '6666', 'voucher_unusable', 'suspended'],
    ['6000010', '1010', 'voucher_unusable'],
  ]
  for (const [voucherNumber, usedPin, code, reason] of cases)
    for (const response of [
      await lookUp(api, voucherNumber, usedPin),
      await validate(api, '10.00', voucherNumber, usedPin),
    ]) {
      assertProblem(response, code, api.baseUrl)
      assert.equal(response.json.reason, reason)
    }
  const expired = await lookUp(api, '6000007', '7777')
  assert.deepEqual([expired.json.data.status, expired.json.data.availableAmount], ['expired', '0.00'])
  const expiredValidation = await validate(api, '10.00', '6000007', '7777')
  assertProblem(expiredValidation, 'voucher_unusable', api.baseUrl)
  assert.equal(expiredValidation.json.reason, 'expired')
  assertProblem(await validate(api, '100.01'), 'insufficient_voucher_balance', api.baseUrl)
  assertProblem(await validate(api, '24.99', '6000009', '9999'), 'voucher_must_be_used_in_full', api.baseUrl)
  assert.equal((await validate(api, '25.00', '6000009', '9999')).status, 200)
  assert.equal(
    countValidations(simulator, '6000003') +
      countValidations(simulator, '6000007') +
      countValidations(simulator, '6000001'),
    0,
  )
})

test('a rejected validation or lock is our error, never a 500', async () => {
  const rejectWith = (path: string, code: number, status = 403) =>
    simulator.faults.add({ kind: 'error', path, status, code, description: `about ${pin}`, times: 1 })
  const validation: [number, ErrorCode, string?][] = [
    ...([
      [5053, 'voucher_not_accepted'],
      [5054, 'voucher_unusable', 'redeemed'],
      [5055, 'voucher_not_accepted'],
    ] as const),
    ...([
      [5056, 'voucher_unusable', 'expired'],
      [5057, 'voucher_unusable', 'not issued'],
    ] as const),
    ...([
      [5059, 'voucher_unusable', 'suspended'],
      [5060, 'invalid_field'],
      [5061, 'validation_id_incorrect'],
    ] as const),
    ...([
      [5062, 'insufficient_voucher_balance'],
      [5065, 'voucher_unusable', 'expired'],
    ] as const),
    ...([
      [5066, 'voucher_must_be_used_in_full'],
      [5219, 'voucher_unusable'],
      [5008, 'voucher_not_accepted'],
    ] as const),
    [5068, 'back_office_error'],
  ].map(([code, errorCode, reason]) => [code, errorCode, reason] as [number, ErrorCode, string?])
  for (const [code, errorCode, reason] of validation) {
    rejectWith('/Voucher/GVValid/*', code, code === 5008 ? 404 : 403)
    const response = await validate(api)
    assertProblem(response, errorCode, api.baseUrl, '/vouchers/validate')
    assert.equal(response.json.reason, reason, String(code))
    assert.doesNotMatch(response.text, /about|1234/)
  }
  rejectWith('/Voucher/GVValid/*', 5060)
  const query = await api.get(`/vouchers/${number}?amount=10.00`, { 'x-voucher-pin': pin })
  assert.deepEqual(query.json.errors[0].parameter, 'amount')
  // Another system has locked the voucher. The back office doesn't return when the lock ends.
  rejectWith('/Voucher/GVValid/*', 5067)
  const locked = await validate(api)
  assert.deepEqual([locked.status, locked.json.code, locked.json.lockedUntil], [409, 'voucher_locked', undefined])
  for (const [code, status] of [
    [5067, 409],
    [5059, 422],
    [5109, 502],
  ] as const) {
    const validationId = await getValidationId(api)
    rejectWith('/Voucher/Lock/*', code)
    assert.equal((await lockVoucher(api, number, validationId)).status, status)
    assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200, 'the validation stays valid')
  }
})

test('guesses stop reaching the back office once voucher or address is blocked', async () => {
  const countCalls = () => simulator.ledger.findCalls({ path: '/Voucher/*' }).length
  await waitForRoomInMinute()
  for (let i = 0; i < 8; i++)
    assertProblem(
      await lookUp(i % 2 ? api : other, number, '9999'),
      'voucher_not_accepted',
      (i % 2 ? api : second).baseUrl,
    )
  assert.equal(countCalls(), 5)
  assertProblem(await lookUp(api), 'voucher_not_accepted', api.baseUrl)
  assertProblem(await validate(api), 'voucher_not_accepted', api.baseUrl)
  assert.equal(countCalls(), 5, 'the right PIN causes no call either')
  await clearFailures(api)
  await waitForRoomInMinute()
  const responses = await Promise.all(Array.from({ length: 12 }, (_, i) => lookUp(i % 2 ? api : other, number, `${i}`)))
  for (const { json } of responses) assert.equal(json.code, 'voucher_not_accepted')
  assert.equal(countCalls(), 10, 'concurrent guesses cause no more calls than sequential ones')
  await clearFailures(api)
  await waitForRoomInMinute()
  for (let i = 0; i < 30; i++) assert.equal((await lookUp(api, `77${i}`, '1')).status, 403)
  const before = countCalls()
  assertProblem(await lookUp(api), 'too_many_failures', api.baseUrl)
  assertProblem(await lookUp(api, '779', '1'), 'too_many_failures', api.baseUrl)
  assert.equal(countCalls(), before)
})

/** Waits for the next minute if less than 8 s are left of this one, because failures are counted per minute. */
async function waitForRoomInMinute() {
  const row = await api.db.row<{ remaining: number }>(sql`select 60 - extract(second from now())::float8 as remaining`)
  if (row && row.remaining < 8) await delay(row.remaining * 1_000)
}

test('a right PIN clears earlier failures; other voucher problems do not count', async () => {
  for (let i = 0; i < 4; i++) await lookUp(api, number, '9999')
  assert.equal((await lookUp(api)).status, 200)
  for (let i = 0; i < 4; i++) await lookUp(api, number, '9999')
  assert.equal((await lookUp(api)).status, 200)
  for (let i = 0; i < 6; i++) assertProblem(await lookUp(api, '6000003', '3333'), 'voucher_unusable', api.baseUrl)
})

test('secrets of a voucher never appear in logs, responses or tables', async () => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const { client, backOffice } = connectToBackOffice(simulator, { log })
  const logging = await startTestApi({ sharedWith: api, log, backOffice })
  try {
    const secret = '987654321'
    simulator.change({ kind: 'edit-voucher', number, fields: { pin: secret } })
    const responses: TestResponse[] = []
    const lookUpSecret = async (query = '') =>
      responses.push(await logging.get(`/vouchers/${number}${query}`, { 'x-voucher-pin': secret }))
    await lookUpSecret()
    for (const fault of [
      { kind: 'error', status: 403, code: 9_999, description: `The PIN ${secret} is odd` },
      { kind: 'error', status: 400, code: 5_053, description: `The PIN ${secret} is odd` },
      { kind: 'html' },
      { kind: 'truncated' },
      { kind: 'lost-response' },
      { kind: 'redirect', location: `/Voucher/1?pin=${secret}` },
    ] as const) {
      simulator.faults.add({ ...fault, path: '/Voucher/*', times: 2 })
      await lookUpSecret('?amount=10.00')
      simulator.faults.clear()
    }
    await clearFailures(api)
    await lookUpSecret('?amount=10.00')
    assert.equal(responses.at(-1)?.status, 200)
    const { validationId } = findVoucher(number)
    const rows = await api.db.rows<{ row: string }>(sql`select v::text as row from upstream_voucher v`)
    assert.equal(rows.length, 1)
    assert.ok(
      lines.some(line => line.includes('***')),
      'failed calls are logged',
    )
    for (const text of [...lines, ...rows.map(({ row }) => row), ...responses.map(response => response.text)]) {
      assert.doesNotMatch(text, new RegExp(secret))
      assert.ok(!text.includes(validationId), text)
    }
    assert.doesNotMatch(lines.join(''), /x-voucher-pin/i)
  } finally {
    await logging.stop()
    client.close()
  }
})

test('vouchers return 503 during an outage and count no failures', async () => {
  const validationId = await getValidationId(api)
  await simulator.stopAccepting()
  try {
    for (const response of [await lookUp(api), await validate(api), await lockVoucher(api, number, validationId)]) {
      assertProblem(response, 'back_office_unavailable', api.baseUrl)
      assert.match(String(response.headers['retry-after']), /^\d+$/)
    }
    assert.equal(await api.db.run(sql`select from pin_guard`), 0)
  } finally {
    await simulator.accept()
  }
})
