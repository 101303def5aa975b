import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Guards, type ModelResult, runSchedule, type Step, stepKinds } from './model.ts'

/* Tests properties of the stock model. To run all 100,000 schedules: npm run test:stock-model. */

const schedules = Number(process.env.STOCK_SCHEDULES ?? 3_000)
const number = fc.nat(1_000)
/** A push reads immediately before it sends, so both are one step here. */
const push = [
  ['compute', 0, 0],
  ['send', 0, 0],
] as const satisfies readonly Step[]
const events = stepKinds.filter(kind => kind !== 'compute' && kind !== 'send')
const step = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...events), number, number).map((event): Step[] => [event]) },
  { weight: 1, arbitrary: fc.constant<Step[]>([...push]) },
)
const schedule = fc.array(step, { minLength: 10, maxLength: 120, size: 'max' }).map(steps => steps.flat())

test('I1: a push never shows more than its stock allows', () => {
  fc.assert(
    fc.property(schedule, steps => {
      assert.ok(runSchedule(steps).maxExcess <= 0)
    }),
    { numRuns: schedules },
  )
})

test('I2: after quiet, the next pushes reach the desired quantity', () => {
  fc.assert(
    fc.property(schedule, steps => {
      // A reconciliation reads counts by the merchant.
      const completeSchedule: Step[] = [...steps, ['reconcile', 0, 0], ...Array.from({ length: 6 }, () => push).flat()]
      const { pushes, isInStep } = runSchedule(completeSchedule)
      assert.ok(isInStep)
      // I7: a further push changes nothing.
      assert.equal(runSchedule([...completeSchedule, ...push]).pushes, pushes)
    }),
    { numRuns: schedules },
  )
})

test('without a guard, a push shows too much', () => {
  const countExcessive = (guards: Guards) => {
    const results: ModelResult[] = fc
      .sample(schedule, { numRuns: 3_000, seed: 1 })
      .map(steps => runSchedule(steps, guards))
    return results.filter(({ maxExcess }) => maxExcess > 0).length
  }
  assert.equal(countExcessive({ compareAndSet: true, confirmation: true }), 0)
  assert.ok(countExcessive({ compareAndSet: true, confirmation: false }) > 100)
  assert.ok(countExcessive({ compareAndSet: false, confirmation: false }) > 100)
})
