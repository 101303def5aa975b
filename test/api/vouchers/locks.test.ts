import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials, startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import {
  addVouchers,
  backDate,
  clearFailures,
  getClockDifference,
  getValidationId,
  listLedgerSteps,
  lockVoucher,
  newVoucher,
  pin,
  validateVoucher,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { assertReplay, post, put } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'visitor' })
/** Another account of the same service. */
const other = await api.createAccount('visitor')
after(() => api.stop())
beforeEach(() => clearFailures(api))

test('a locked voucher can be validated only by its holder', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  const { lockedUntil } = (await lockVoucher(api, number, ownValidationId, 600)).json.data
  const rejected = await validateVoucher(other, number)
  assertProblem(rejected, 'voucher_locked', api.baseUrl, '/vouchers/validate')
  assert.equal(rejected.json.lockedUntil, lockedUntil)
  assert.doesNotMatch(rejected.text, new RegExp(api.username), 'the holder is not named')
  const wrong = await post(other, '/vouchers/validate', { number, pin: '999999', amount: '10.00' })
  assertProblem(wrong, 'voucher_not_accepted', api.baseUrl, '/vouchers/validate')
  assert.equal((await lockVoucher(api, number, ownValidationId, 700)).status, 200)
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).json.data.status, 'active')
  assert.equal((await validateVoucher(other, number)).status, 200)
  assert.deepEqual(await listLedgerSteps(api, api, number), [
    'issue active',
    'lock locked',
    'lock locked',
    'unlock active',
  ])
})

test('one of several clients locking concurrently holds the voucher', async () => {
  for (let round = 0; round < 5; round++) {
    const number = await newVoucher(api)
    const ids: string[] = []
    for (let i = 0; i < 8; i++) ids.push(await getValidationId(i % 2 ? api : other, number))
    const responses = await Promise.all([...ids, ...ids].map(id => lockVoucher(api, number, id)))
    const statuses = responses.map(({ status }) => status)
    // The newest validation was sent twice: the second time it renews its own lock.
    assert.equal(statuses.filter(status => status === 200).length, 2, statuses.join())
    // Before the holder, a client has an older validation that can't lock yet. After the holder, the voucher is
    // locked.
    for (const response of responses)
      if (response.status !== 200) assert.ok(['voucher_locked', 'validation_id_incorrect'].includes(response.json.code))
    const later = await Promise.all(ids.slice(0, -1).map(id => lockVoucher(other, number, id)))
    for (const response of later) assertProblem(response, 'voucher_locked', api.baseUrl, `/vouchers/${number}/lock`)
  }
})

test('20 retrying clients never hold a voucher at the same time', async () => {
  const number = await newVoucher(api)
  const lockTimes: { from: number; to: number }[] = []
  const outcomes = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const caller = i % 2 ? api : other
      for (let n = 0; n < 20; n++) {
        // Without a pause each validation would be replaced by the next client's before it could lock.
        await delay(Math.random() * 400)
        const validated = await validateVoucher(caller, number)
        const response =
          validated.status === 200 ? await lockVoucher(caller, number, validated.json.data.validationId) : validated
        const outcome = response.json.code ?? response.status
        outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1)
        if (response.status !== 200) continue
        const from = performance.now()
        // This takes long enough for the other clients to try.
        await post(caller, '/vouchers/lookup', { number, pin })
        const to = performance.now()
        assert.equal((await lockVoucher(caller, number, validated.json.data.validationId, 0)).status, 200)
        lockTimes.push({ from, to })
      }
    }),
  )
  const counts = JSON.stringify(Object.fromEntries(outcomes))
  assert.equal(
    [...outcomes.values()].reduce((a, b) => a + b),
    400,
  )
  assert.deepEqual(
    [...outcomes.keys()].filter(key => !/^(200|voucher_locked|validation_id_incorrect)$/.test(key)),
    [],
    counts,
  )
  assert.ok(lockTimes.length >= 5, counts)
  assert.ok((outcomes.get('voucher_locked') ?? 0) > 0, counts)
  lockTimes.sort((a, b) => a.from - b.from)
  for (const [i, { from }] of lockTimes.entries())
    assert.ok(i === 0 || from >= (lockTimes[i - 1]?.to ?? 0), 'two clients held the lock at the same time')
})

test('a repeat with its key is replayed; without, it renews the lock', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  const key = { 'idempotency-key': 'hold-1' }
  const first = await lockVoucher(api, number, ownValidationId, 60, key)
  const replay = await lockVoucher(api, number, ownValidationId, 60, key)
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.equal(replay.text, first.text)
  assertProblem(await lockVoucher(api, number, ownValidationId, 61, key), 'idempotency_key_reused', api.baseUrl)
  const renewed = await lockVoucher(api, number, ownValidationId, 6_000)
  assert.ok(getClockDifference(renewed.json.data.lockedUntil, 6_000) < 30)
  assert.equal((await listLedgerSteps(api, api, number)).length, 3)
})

test('a lock by PIN repeated with its key has one validationId', async () => {
  const number = await newVoucher(api)
  const lock = () => post(api, `/vouchers/${number}/lock`, { pin }, { 'idempotency-key': 'hold-3' })
  const first = await lock()
  assert.equal(first.status, 200, first.text)
  assertReplay(await lock(), first)
  assert.deepEqual(await listLedgerSteps(api, api, number), ['issue active', 'lock locked'])
  assert.equal((await lockVoucher(api, number, first.json.data.validationId, 0)).status, 200)
})

test('a rejected lock leaves its key unused', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  await lockVoucher(api, number, ownValidationId)
  await backDate(api, number, 'locked_until')
  const otherValidationId = await getValidationId(other, number)
  await lockVoucher(other, number, otherValidationId)
  const key = { 'idempotency-key': 'hold-2' }
  assertProblem(await lockVoucher(api, number, ownValidationId, 60, key), 'voucher_locked', api.baseUrl)
  await lockVoucher(other, number, otherValidationId, 0)
  assertProblem(await lockVoucher(api, number, ownValidationId, 60, key), 'validation_id_incorrect', api.baseUrl)
})

test('an expired lock is free immediately and its holder is rejected afterwards', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  await lockVoucher(api, number, ownValidationId, 1)
  assertProblem(await validateVoucher(other, number), 'voucher_locked', api.baseUrl)
  await backDate(api, number, 'locked_until')
  const { data } = (await post(api, '/vouchers/lookup', { number, pin })).json
  assert.deepEqual([data.status, data.lockedUntil, data.availableAmount], ['active', null, '150.00'])
  const otherValidationId = await getValidationId(other, number)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId, 0), 'voucher_locked', api.baseUrl)
  assert.equal(
    (await lockVoucher(other, number, otherValidationId, 0)).status,
    200,
    'the stale holder has unlocked nothing',
  )
  assert.deepEqual(await listLedgerSteps(api, api, number), [
    ...['issue active', 'lock locked', 'unlock active'],
    ...['lock locked', 'unlock active'],
  ])
})

test('a lock lasts 1 to 86400 seconds, and 0 releases any', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  for (const lockSeconds of [-1, 86_401, 2 ** 40])
    assertProblem(
      await lockVoucher(api, number, ownValidationId, lockSeconds),
      'invalid_field',
      api.baseUrl,
      `/vouchers/${number}/lock`,
    )
  for (const lockSeconds of [1.5, '60', null, true])
    assertProblem(
      await put(api, `/vouchers/${number}/lock`, { validationId: ownValidationId, lockSeconds }),
      'invalid_body',
      api.baseUrl,
    )
  for (const body of [
    {},
    { validationId: ownValidationId, pin },
    { validationId: ownValidationId, amount: '1.00' },
    { validationId: 7 },
  ])
    for (const send of [put, post])
      assertProblem(await send(api, `/vouchers/${number}/lock`, body), 'invalid_body', api.baseUrl)
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).json.data.status, 'active')
  assert.deepEqual(
    await listLedgerSteps(api, api, number),
    ['issue active'],
    'a release without a lock must add no entry',
  )
  for (const lockSeconds of [1, 86_400])
    assert.equal((await lockVoucher(api, number, ownValidationId, lockSeconds)).status, 200)
})

/** Creates a voucher that was locked before its last day and whose last day is over. */
async function lockPastLastDay() {
  const number = await newVoucher(api)
  const validationId = await getValidationId(api, number)
  await lockVoucher(api, number, validationId)
  await api.db.run(
    sql`update voucher set expiry_date = '2020-01-01' where service_id = ${api.service.id} and number = ${number}`,
  )
  return { number, validationId }
}

test('a lock keeps a voucher usable past its last day', async () => {
  const { number } = await lockPastLastDay()
  const getStatus = async () => (await post(api, '/vouchers/lookup', { number, pin })).json.data.status
  assert.equal(await getStatus(), 'locked')
  await backDate(api, number, 'locked_until')
  assert.equal(await getStatus(), 'expired')
})

test('a voucher released after its last day is expired', async () => {
  const { number, validationId } = await lockPastLastDay()
  assert.equal((await lockVoucher(api, number, validationId, 0)).json.data.status, 'expired')
})

test('an account can hold at most 1,000 vouchers', async () => {
  const caller = await api.createAccount('visitor')
  const numbers = Array.from({ length: 1_001 }, (_, i) => `cap-${i}`)
  await addVouchers(api, api, Object.fromEntries(numbers.map(number => [number, {}])))
  const [last = '', first = ''] = [numbers.at(-1), numbers[0]]
  const validationId = await getValidationId(api, first)
  await api.db.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, locked_by)
    select ${api.service.id}, number, 2, 'lock', 0, 'locked', now() + interval '100 s', ${caller.username} from unnest(${numbers.slice(0, -1)}::text[]) number`)
  const ownValidationId = await getValidationId(api, last)
  const rejected = await lockVoucher(caller, last, ownValidationId)
  assertProblem(rejected, 'rate_limited', api.baseUrl, `/vouchers/${last}/lock`)
  assert.ok(Number(rejected.headers['retry-after']) > 50 && Number(rejected.headers['retry-after']) <= 100)
  for (const headers of [{}, { prefer: 'tx=rollback' }])
    assertProblem(await put(caller, `/vouchers/${last}/lock`, { pin }, headers), 'rate_limited', api.baseUrl)
  assert.equal((await lockVoucher(caller, first, validationId, 200)).status, 200, 'an existing lock can be renewed')
  assert.equal(
    (await lockVoucher(other, last, ownValidationId, 1)).status,
    200,
    'another account must have its own count',
  )
  assert.equal((await lockVoucher(caller, first, validationId, 0)).status, 200)
  assert.equal((await lockVoucher(caller, last, ownValidationId)).status, 200)
})

test('locks and wrong PINs are shared by all servers', async () => {
  const second = await startSecondServer(api)
  try {
    const number = await newVoucher(api)
    const lookUp = (input: string) =>
      second.sendRequest(`/vouchers/${number}`, { headers: { ...buildCredentials(api), 'x-voucher-pin': input } })
    await lockVoucher(api, number, await getValidationId(api, number))
    assert.equal((await lookUp(pin)).json.data.status, 'locked')
    for (let i = 0; i < 5; i++)
      assertProblem(
        i % 2 ? await lookUp('111111') : await post(api, '/vouchers/lookup', { number, pin: '111111' }),
        'voucher_not_accepted',
        i % 2 ? second.baseUrl : api.baseUrl,
      )
    assertProblem(await lookUp(pin), 'voucher_not_accepted', second.baseUrl)
    assertProblem(await post(api, '/vouchers/lookup', { number, pin }), 'voucher_not_accepted', api.baseUrl)
    assertProblem(await validateVoucher(api, number), 'voucher_not_accepted', api.baseUrl)
  } finally {
    await second.stop()
  }
})
