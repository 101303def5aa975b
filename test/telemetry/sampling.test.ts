import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSampler, isSampled, maxTracesPerSecond } from '../../src/telemetry/sampling.ts'
import { createTraceId } from '../../src/telemetry/trace-context.ts'

/** Returns how many of `traces` traces that begin within one second are recorded. */
function countRecorded(traces: number, second: number, sampler = createSampler('parentbased_traceidratio', undefined)) {
  let recorded = 0
  for (let i = 0; i < traces; i++)
    if (isSampled(sampler, createTraceId(), undefined, (second + i / traces) * 1_000)) recorded++
  return recorded
}

test('everything is traced up to a few hundred requests a second', () => {
  const sampler = createSampler('parentbased_traceidratio', undefined)
  for (let second = 0; second < 5; second++)
    assert.equal(countRecorded(maxTracesPerSecond, second, sampler), maxTracesPerSecond, `second ${second}`)
})

test('a busy day without a ratio has no more traces', () => {
  const sampler = createSampler('parentbased_traceidratio', undefined)
  // Records 500 traces, and each later one with the probability 500 / number of traces so far.
  const first = countRecorded(20_000, 0, sampler)
  assert.ok(first > maxTracesPerSecond && first < 5 * maxTracesPerSecond, `${first} in the first second`)
  let total = 0
  for (let second = 1; second <= 10; second++) total += countRecorded(20_000, second, sampler)
  // About 10 * 500. By chance, one of a billion runs is outside these limits.
  assert.ok(Math.abs(total - 10 * maxTracesPerSecond) < 450, `${total} in ten seconds`)
  // All traces of a later quiet second are recorded.
  assert.equal(countRecorded(100, 12, sampler), 100)
})

test('a configured sampling ratio applies at any rate', () => {
  const recorded = countRecorded(100_000, 0, createSampler('traceidratio', 0.25))
  assert.ok(Math.abs(recorded - 25_000) < 900, `${recorded} of 100,000`)
})
