import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshSingleFlight, singleFlight } from '../../src/concurrency/single-flight.ts'
import { perObject } from '../../src/concurrency/ttl-cache.ts'

/** Returns work whose runs the test ends itself. */
function createControlledWork() {
  const runs: PromiseWithResolvers<number>[] = []
  return {
    runs,
    work: () => {
      const run = Promise.withResolvers<number>()
      runs.push(run)
      return run.promise
    },
  }
}
const waitForEventLoopTurn = () => new Promise(setImmediate)

test('concurrent callers of a key share a run', async () => {
  const { runs, work } = createControlledWork()
  const share = singleFlight()
  const results = [share('a', work), share('a', work), share('b', work)]
  assert.equal(runs.length, 2)
  for (const [i, run] of runs.entries()) run.resolve(i)
  assert.deepEqual(await Promise.all(results), [0, 0, 1])
  void share('a', work)
  assert.equal(runs.length, 3)
})

test('a failure reaches all callers and is not kept', async () => {
  const { runs, work } = createControlledWork()
  const share = singleFlight()
  const results = [share('a', work), share('a', work)]
  runs[0]?.reject(new Error('failed'))
  assert.deepEqual(
    (await Promise.allSettled(results)).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  void share('a', work)
  assert.equal(runs.length, 2)
})

test('a fresh result never began before its caller', async () => {
  const { runs, work } = createControlledWork()
  const share = freshSingleFlight()
  const first = share('a', work)
  const second = [share('a', work), share('a', work)]
  assert.equal(runs.length, 1)
  runs[0]?.resolve(1)
  assert.equal(await first, 1)
  await waitForEventLoopTurn()
  assert.equal(runs.length, 2)
  // The second run has begun, so this caller needs a third one.
  const third = share('a', work)
  runs[1]?.resolve(2)
  assert.deepEqual(await Promise.all(second), [2, 2])
  await waitForEventLoopTurn()
  runs[2]?.resolve(3)
  assert.equal(await third, 3)
})

test('a queued run begins even if the run before it fails', async () => {
  const { runs, work } = createControlledWork()
  const share = freshSingleFlight()
  const first = share('a', work)
  const second = share('a', work)
  runs[0]?.reject(new Error('failed'))
  await assert.rejects(first)
  await waitForEventLoopTurn()
  runs[1]?.resolve(2)
  assert.equal(await second, 2)
})

test('objects do not share runs', () => {
  const { runs, work } = createControlledWork()
  const flights = perObject((_: object) => singleFlight())
  const [first, other] = [{}, {}]
  for (const owner of [first, first, other]) void flights(owner)('a', work)
  assert.equal(runs.length, 2)
})
