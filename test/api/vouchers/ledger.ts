import assert from 'node:assert/strict'
import { lockByValidation, validate } from '../../../src/backoffice/embedded/vouchers/lock.ts'
import { redeemVoucher, refundVoucher } from '../../../src/backoffice/embedded/vouchers/redeem.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import { ApiError } from '../../../src/errors/api-error.ts'
import type { TestApi } from '../../support/service.ts'

/** The states that can follow each state. A refund is tested separately. */
export const allowedStates: Record<string, readonly string[]> = {
  pending: ['active'],
  active: ['locked', 'expired', 'suspended'],
  locked: ['active', 'redeemed'],
  redeemed: ['active'],
  expired: [],
  suspended: ['active'],
}

interface Entry {
  kind: string
  state: string
  amount: string
  locked: boolean
}

/** Runs voucher operations of the store. Each returns the code of its error. */
export function createVoucherOperations({ db, keys, service }: TestApi) {
  /** Runs work in a transaction. Returns its result, or the code of the error that it throws or returns. */
  async function outcome<T>(work: (tx: Db) => Promise<T>): Promise<T | string> {
    try {
      const result = await db.transaction(work)
      return result instanceof ApiError ? result.code : result
    } catch (error) {
      if (error instanceof ApiError) return error.code
      throw error
    }
  }

  return {
    outcome,
    validate: (number: string, amount = '1.00') => outcome(tx => validate(tx, keys, service, { number, amount })),
    draw: (number: string, validationId: string, amount: string, orderNumber = 'W1') =>
      outcome(tx =>
        redeemVoucher(tx, keys, service, { number, validationId, amount, orderNumber, pointer: '/payments/0/voucher' }),
      ),
    lock: (number: string, validationId: string, lockSeconds: number) =>
      outcome(tx =>
        lockByValidation(tx, keys, service, {
          number,
          validationId,
          lockSeconds,
          writer: { username: 'shop' },
          origin: { address: '' },
        }),
      ),
    /** Returns the refunded cents. */
    refund: (number: string, maxAmount: bigint, orderNumber = 'W1') =>
      db.transaction(tx => refundVoucher(tx, service, { number, maxAmount, orderNumber })),

    /** Asserts that a ledger follows the state table and leads to the voucher's state and balance. Returns both. */
    async assertSound(number: string) {
      const entries = await db.rows<Entry>(sql`
        select kind, state, amount::text, locked_until is not null as locked from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)
      const row = await db.row<{ state: string; cents: string; used: string }>(sql`
        select state, (balance * 100)::bigint::text as cents, ((original_amount - balance) * 100)::bigint::text as used from voucher where service_id = ${service.id} and number = ${number}`)
      let [state, cents] = ['pending', 0n]
      const history = entries.map(({ kind, state: entryState, amount }) => `${kind} ${entryState} ${amount}`).join(', ')
      for (const entry of entries) {
        if (entry.state !== state) assert.ok(allowedStates[state]?.includes(entry.state), history)
        state = entry.state
        cents += BigInt(entry.amount.replace('.', '')) / 100n
        assert.ok(cents >= 0n && cents <= 15_000n, history)
        assert.equal(entry.locked, state === 'locked', history)
        if (state === 'redeemed') assert.equal(cents, 0n, history)
      }
      assert.deepEqual([row?.state, row?.cents, row?.used], [state, String(cents), String(15_000n - cents)], history)
      return { state, cents }
    },
  }
}
