import assert from 'node:assert/strict'
import fc from 'fast-check'

/** What a shopper does with the voucher. Whoever locks, renews, unlocks or draws does it with the newest validation that it was given. */
export const deeds = ['look up', 'validate', 'lock', 'unlock', 'lock by PIN', 'draw', 'repeat'] as const
export type Deed = (typeof deeds)[number]

/** What goes wrong on the way; `late` is a process that is halted for longer than it may hold anything. */
export const mishaps = ['lost-answer', 'reset-before', 'hang', 'late', 'late after its effect', 'killed'] as const
export type Mishap = (typeof mishaps)[number]

export interface Act {
  deed: Deed
  cents: number
  /** Which of two servers is asked. */
  server: 0 | 1
  /** Milliseconds that it waits first. */
  waitMs: number
  mishap: Mishap | undefined
}

/** What the shoppers do at once, each at most one thing; then time may pass, or what is open is followed up. */
export interface Round {
  acts: (Act | undefined)[]
  next: 'nothing' | 'locks run out' | 'follow up'
}

const act = fc.record<Act>({
  deed: fc.constantFrom(...deeds, 'validate', 'lock', 'lock', 'draw'),
  cents: fc.integer({ min: 1, max: 2_000 }),
  server: fc.constantFrom(0, 1),
  waitMs: fc.integer({ min: 0, max: 40 }),
  mishap: fc.oneof(
    { weight: 7, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...mishaps) },
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

/** What any deed may come to: a mishap, or another one in the way. */
const always = ['outcome_unknown', 'back_office_unavailable', 'concurrent_update']
const refused = ['voucher_locked', 'validation_id_incorrect']
const over = ['voucher_unusable', 'insufficient_voucher_balance']
/** A process that was halted for too long finds that somebody else finds out what has become of its order. */
export const leaseLost = 'idempotency_in_progress'
/** What may happen; `held` is to whoever held the voucher when it began, and had not begun to give it back. */
const table: Record<Deed, { anybody: readonly string[]; held: readonly string[] }> = {
  'look up': { anybody: ['200', 'voucher_unusable'], held: ['200', 'voucher_unusable'] },
  validate: { anybody: ['200', 'voucher_locked', ...over], held: ['voucher_locked', ...over] },
  lock: { anybody: ['200', ...refused], held: ['200'] },
  unlock: { anybody: ['200', ...refused], held: ['200'] },
  'lock by PIN': { anybody: ['200', 'voucher_locked', ...over], held: ['voucher_locked', ...over] },
  draw: { anybody: ['201', leaseLost, ...refused, ...over], held: ['201', leaseLost, ...over] },
  repeat: { anybody: ['201', leaseLost, ...refused, ...over], held: ['201', leaseLost, ...refused, ...over] },
}

/** What only one may do who has the voucher, or to whom it is free. */
const needsIt: ReadonlySet<Deed> = new Set(['validate', 'lock', 'unlock', 'lock by PIN', 'draw'])

interface Done {
  shopper: number
  deed: Deed
  from: number
  to: number
  outcome: string
}
interface Held {
  shopper: number
  from: number
  to: number
}

/** Holds a history against the table: what each was told, and when somebody certainly held the voucher. */
export function historyOf() {
  const history: Done[] = []
  const holds: Held[] = []
  const holding = (shopper: number) =>
    holds.find(held => held.shopper === shopper && held.to === Number.POSITIVE_INFINITY)
  const told = () => JSON.stringify(history, null, 1)
  return {
    holding,
    /** Somebody begins something: who gives a voucher back, or pays with it, holds it no more for certain. */
    begins(shopper: number, deed: Deed) {
      const held = holding(shopper)
      if (held && (deed === 'unlock' || deed === 'draw')) held.to = performance.now()
      return held !== undefined
    },
    ends(done: Omit<Done, 'to'>, wasHolding: boolean) {
      const to = performance.now()
      const { shopper, deed, outcome } = done
      history.push({ ...done, to })
      const { anybody, held } = table[deed]
      const mayBe = [...always, ...(wasHolding ? held : anybody)]
      assert.ok(mayBe.includes(outcome), `${shopper}: ${deed} came to ${outcome}, holding: ${wasHolding}\n${told()}`)
      // Who was told for certain that nothing was drawn, or given back, has it as before.
      const isKept = wasHolding && (outcome === 'back_office_unavailable' || over.includes(outcome))
      if (
        (outcome === '200' && (deed === 'lock' || deed === 'lock by PIN') && !holding(shopper)) ||
        (isKept && !holding(shopper))
      )
        holds.push({ shopper, from: to, to: Number.POSITIVE_INFINITY })
    },
    locksRunOut() {
      for (const held of holds) held.to = Math.min(held.to, performance.now())
    },
    /** Nobody else did anything with a voucher that somebody held all the while. */
    validateLine() {
      for (const held of holds)
        for (const { shopper, deed, from, to, outcome } of history)
          if (shopper !== held.shopper && needsIt.has(deed) && /^20/.test(outcome))
            assert.ok(
              from < held.from || to > held.to,
              `${held.shopper} held it while ${shopper} did: ${deed}\n${told()}`,
            )
    },
  }
}
