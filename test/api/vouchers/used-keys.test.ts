import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import {
  clearFailures,
  getValidationId,
  lockVoucher,
  newVoucher,
  pin,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'visitor' })
after(() => api.stop())
beforeEach(() => clearFailures(api))

const wrong = Array.from({ length: 12 }, (_, i) => String(100_000 + i))

/** The operations that take a PIN. Each function returns one that tries a PIN with a key. */
const operations = {
  'a look-up': (number: string) => (triedPin: string, key: Record<string, string>) =>
    post(api, '/vouchers/lookup', { number, pin: triedPin }, key),
  'a validation': (number: string) => (triedPin: string, key: Record<string, string>) =>
    post(api, '/vouchers/validate', { number, pin: triedPin, amount: '1.00' }, key),
  'a lock': (number: string) => (triedPin: string, key: Record<string, string>) =>
    put(api, `/vouchers/${number}/lock`, { pin: triedPin, amount: '1.00' }, key),
}

for (const [label, createAttempt] of Object.entries(operations))
  test(`a replay key of ${label} allows no more PIN attempts than none`, async () => {
    const number = await newVoucher(api)
    const [attempt, key] = [createAttempt(number), withKey()]
    const { status, json } = await attempt(pin, key)
    assert.equal(status, 200)
    for (const guess of wrong.slice(0, 5))
      assertProblem(await attempt(guess, key), 'idempotency_key_reused', api.baseUrl)
    // The right PIN is rejected as well, so that guessing reveals nothing.
    for (const guess of [...wrong.slice(5), pin])
      assertProblem(await attempt(guess, key), 'voucher_not_accepted', api.baseUrl)
    assertProblem(await attempt(pin, withKey()), 'voucher_not_accepted', api.baseUrl)
    await clearFailures(api)
    const again = await attempt(pin, key)
    assert.deepEqual([again.status, again.json, again.headers['idempotent-replayed']], [200, json, 'true'])
  })

test('a lock by its validation is replayed despite other PIN attempts', async () => {
  const number = await newVoucher(api)
  const [validationId, key] = [await getValidationId(api, number), withKey()]
  const lock = () => put(api, `/vouchers/${number}/lock`, { validationId }, key)
  assert.equal((await lock()).status, 200)
  await api.db.run(sql`update pin_guard set blocked_until = now() + interval '1 hour'`)
  assert.equal((await lock()).headers['idempotent-replayed'], 'true')
  assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200)
})
