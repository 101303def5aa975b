import assert from 'node:assert/strict'
import fc from 'fast-check'

/** Operations of a shopper. Lock, renew, unlock and redeem use the newest validation that the shopper received. */
export const operations = ['look up', 'validate', 'lock', 'unlock', 'lock by PIN', 'draw', 'repeat'] as const
export type Operation = (typeof operations)[number]

/** Faults during an operation. `late` is a process that is halted for longer than its lease. */
export const faults = ['lost-answer', 'reset-before', 'hang', 'late', 'late after its effect', 'killed'] as const
export type Fault = (typeof faults)[number]

export interface Act {
  operation: Operation
  cents: number
  /** Which of two servers gets the request. */
  server: 0 | 1
  /** Milliseconds that it waits first. */
  waitMs: number
  fault: Fault | undefined
}

/** Concurrent operations, at most one per shopper. After them time passes, or open writes are recovered. */
export interface Round {
  acts: (Act | undefined)[]
  next: 'nothing' | 'locks run out' | 'follow up'
}

const act = fc.record<Act>({
  operation: fc.constantFrom(...operations, 'validate', 'lock', 'lock', 'draw'),
  cents: fc.integer({ min: 1, max: 2_000 }),
  server: fc.constantFrom(0, 1),
  waitMs: fc.integer({ min: 0, max: 40 }),
  fault: fc.oneof(
    { weight: 7, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...faults) },
  ),
})
export const shoppers = 3
export const rounds = fc.array(
  fc.record<Round>({
    acts: fc.array(fc.option(act, { nil: undefined, freq: 5 }), { minLength: shoppers, maxLength: shoppers }),
    next: fc.constantFrom('nothing', 'nothing', 'nothing', 'locks run out', 'follow up'),
  }),
  { minLength: 2, maxLength: 12 },
)

/** Outcomes of any operation: a fault, or another operation in the way. */
const always = ['outcome_unknown', 'back_office_unavailable', 'concurrent_update']
const rejected = ['voucher_locked', 'validation_id_incorrect']
const over = ['voucher_unusable', 'insufficient_voucher_balance']
/** A process that was halted for too long finds that another one recovers its order. */
export const leaseLost = 'idempotency_in_progress'
/**
 * Permitted outcomes. `held` applies to a shopper that held the voucher at the beginning and had not begun to release
 * it.
 */
const table: Record<Operation, { anybody: readonly string[]; asHolder: readonly string[] }> = {
  'look up': { anybody: ['200', 'voucher_unusable'], asHolder: ['200', 'voucher_unusable'] },
  validate: { anybody: ['200', 'voucher_locked', ...over], asHolder: ['voucher_locked', ...over] },
  lock: { anybody: ['200', ...rejected], asHolder: ['200'] },
  unlock: { anybody: ['200', ...rejected], asHolder: ['200'] },
  'lock by PIN': { anybody: ['200', 'voucher_locked', ...over], asHolder: ['voucher_locked', ...over] },
  draw: { anybody: ['201', leaseLost, ...rejected, ...over], asHolder: ['201', leaseLost, ...over] },
  repeat: { anybody: ['201', leaseLost, ...rejected, ...over], asHolder: ['201', leaseLost, ...rejected, ...over] },
}

/** Operations for which the voucher must be free or held by this shopper. */
const needsIt: ReadonlySet<Operation> = new Set(['validate', 'lock', 'unlock', 'lock by PIN', 'draw'])

interface Done {
  shopper: number
  operation: Operation
  from: number
  to: number
  outcome: string
}
interface HeldLock {
  shopper: number
  from: number
  to: number
}

/** Checks a history against the table: each response, and the times at which a shopper certainly held the voucher. */
export function historyOf() {
  const history: Done[] = []
  const holds: HeldLock[] = []
  const holding = (shopper: number) =>
    holds.find(lock => lock.shopper === shopper && lock.to === Number.POSITIVE_INFINITY)
  const reported = () => JSON.stringify(history, null, 1)
  return {
    holding,
    /** A shopper begins an operation. One that releases the voucher or pays with it no longer certainly holds it. */
    begins(shopper: number, operation: Operation) {
      const lock = holding(shopper)
      if (lock && (operation === 'unlock' || operation === 'draw')) lock.to = performance.now()
      return lock !== undefined
    },
    ends(done: Omit<Done, 'to'>, wasHolding: boolean) {
      const to = performance.now()
      const { shopper, operation, outcome } = done
      history.push({ ...done, to })
      const { anybody, asHolder } = table[operation]
      const mayBe = [...always, ...(wasHolding ? asHolder : anybody)]
      assert.ok(
        mayBe.includes(outcome),
        `${shopper}: ${operation} came to ${outcome}, holding: ${wasHolding}\n${reported()}`,
      )
      // A response that excludes any effect leaves the voucher with its holder.
      const isKept = wasHolding && (outcome === 'back_office_unavailable' || over.includes(outcome))
      if (
        (outcome === '200' && (operation === 'lock' || operation === 'lock by PIN') && !holding(shopper)) ||
        (isKept && !holding(shopper))
      )
        holds.push({ shopper, from: to, to: Number.POSITIVE_INFINITY })
    },
    locksRunOut() {
      for (const lock of holds) lock.to = Math.min(lock.to, performance.now())
    },
    /** Checks that no other shopper used a voucher while one held it. */
    validateLine() {
      for (const lock of holds)
        for (const { shopper, operation, from, to, outcome } of history)
          if (shopper !== lock.shopper && needsIt.has(operation) && /^20/.test(outcome))
            assert.ok(
              from < lock.from || to > lock.to,
              `${lock.shopper} held it while ${shopper} did: ${operation}\n${reported()}`,
            )
    },
  }
}
