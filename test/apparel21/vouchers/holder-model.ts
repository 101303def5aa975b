import assert from 'node:assert/strict'
import fc from 'fast-check'

/** Operations of a shopper. `lock`, `unlock` and `draw` use the newest validation that the shopper received. */
export const operations = ['look up', 'validate', 'lock', 'unlock', 'lock by PIN', 'draw', 'repeat'] as const
export type Operation = (typeof operations)[number]

/** Faults during an operation. `late` means that the process is halted for longer than its lease. */
export const faults = ['lost-response', 'reset-before', 'hang', 'late', 'late after its effect', 'killed'] as const
export type Fault = (typeof faults)[number]

export interface Act {
  operation: Operation
  cents: number
  /** The server that gets the request. */
  server: 0 | 1
  /** The wait before the operation. */
  waitMs: number
  fault: Fault | undefined
}

/** Concurrent operations, at most one per shopper. `next` happens after them. */
export interface Round {
  acts: (Act | undefined)[]
  next: 'nothing' | 'locks expire' | 'recover writes'
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
    next: fc.constantFrom('nothing', 'nothing', 'nothing', 'locks expire', 'recover writes'),
  }),
  { minLength: 2, maxLength: 12 },
)

/** Outcomes that every operation can have, because of a fault or a concurrent operation. */
const alwaysPermitted = ['outcome_unknown', 'back_office_unavailable', 'concurrent_update']
const rejected = ['voucher_locked', 'validation_id_incorrect']
const noBalance = ['voucher_unusable', 'insufficient_voucher_balance']
/** The outcome if the process was halted for too long and another one recovers its order. */
export const leaseLost = 'idempotency_in_progress'
/**
 * Permitted outcomes. `asHolder` applies to a shopper that held the voucher at the beginning and had not begun to
 * release it.
 */
const permitted: Record<Operation, { anyShopper: readonly string[]; asHolder: readonly string[] }> = {
  'look up': { anyShopper: ['200', 'voucher_unusable'], asHolder: ['200', 'voucher_unusable'] },
  validate: { anyShopper: ['200', 'voucher_locked', ...noBalance], asHolder: ['voucher_locked', ...noBalance] },
  lock: { anyShopper: ['200', ...rejected], asHolder: ['200'] },
  unlock: { anyShopper: ['200', ...rejected], asHolder: ['200'] },
  'lock by PIN': { anyShopper: ['200', 'voucher_locked', ...noBalance], asHolder: ['voucher_locked', ...noBalance] },
  draw: { anyShopper: ['201', leaseLost, ...rejected, ...noBalance], asHolder: ['201', leaseLost, ...noBalance] },
  repeat: {
    anyShopper: ['201', leaseLost, ...rejected, ...noBalance],
    asHolder: ['201', leaseLost, ...rejected, ...noBalance],
  },
}

/** Operations that succeed only if no other shopper holds the voucher. */
const exclusiveOperations: ReadonlySet<Operation> = new Set(['validate', 'lock', 'unlock', 'lock by PIN', 'draw'])

interface CompletedOperation {
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

/** Creates a history that checks each outcome and records when each shopper certainly held the voucher. */
export function createHistory() {
  const history: CompletedOperation[] = []
  const locks: HeldLock[] = []
  const findLock = (shopper: number) =>
    locks.find(lock => lock.shopper === shopper && lock.to === Number.POSITIVE_INFINITY)
  const formatHistory = () => JSON.stringify(history, null, 1)
  return {
    findLock,
    /** Records the beginning of an operation. Returns true if the shopper holds the voucher. An unlock or a draw ends the certainty. */
    recordBeginning(shopper: number, operation: Operation) {
      const lock = findLock(shopper)
      if (lock && (operation === 'unlock' || operation === 'draw')) lock.to = performance.now()
      return lock !== undefined
    },
    recordEnd(operationResult: Omit<CompletedOperation, 'to'>, wasHolding: boolean) {
      const to = performance.now()
      const { shopper, operation, outcome } = operationResult
      history.push({ ...operationResult, to })
      const { anyShopper, asHolder } = permitted[operation]
      const permittedOutcomes = [...alwaysPermitted, ...(wasHolding ? asHolder : anyShopper)]
      assert.ok(
        permittedOutcomes.includes(outcome),
        `${shopper}: ${operation} ended with ${outcome}, holding: ${wasHolding}\n${formatHistory()}`,
      )
      // If the outcome excludes any effect, the holder still holds the voucher.
      const keepsLock = wasHolding && (outcome === 'back_office_unavailable' || noBalance.includes(outcome))
      if (
        (outcome === '200' && (operation === 'lock' || operation === 'lock by PIN') && !findLock(shopper)) ||
        (keepsLock && !findLock(shopper))
      )
        locks.push({ shopper, from: to, to: Number.POSITIVE_INFINITY })
    },
    expireLocks() {
      for (const lock of locks) lock.to = Math.min(lock.to, performance.now())
    },
    /** Asserts that no other shopper used the voucher while one held it. */
    assertExclusive() {
      for (const lock of locks)
        for (const { shopper, operation, from, to, outcome } of history)
          if (shopper !== lock.shopper && exclusiveOperations.has(operation) && /^20/.test(outcome))
            assert.ok(
              from < lock.from || to > lock.to,
              `${lock.shopper} held the voucher during ${operation} of ${shopper}\n${formatHistory()}`,
            )
    },
  }
}
