import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSampler, isSampled, maxTracesPerSecond } from '../../src/telemetry/sampling.ts'
import { createTraceId } from '../../src/telemetry/trace-context.ts'

/** How many of so many traces that begin in one second are recorded. */
function recordedOf(traces: number, second: number, sampler = createSampler('parentbased_traceidratio', undefined)) {
  let recorded = 0
  for (let i = 0; i < traces; i++)
    if (isSampled(sampler, createTraceId(), undefined, (second + i / traces) * 1_000)) recorded++
  return recorded
}

test('everything is traced up to a few hundred requests a second', () => {
  const sampler = createSampler('parentbased_traceidratio', undefined)
  for (let second = 0; second < 5; second++)
    assert.equal(recordedOf(maxTracesPerSecond, second, sampler), maxTracesPerSecond, `second ${second}`)
})

test('a busy day without a ratio has no more traces', () => {
  const sampler = createSampler('parentbased_traceidratio', undefined)
  // 500, and of each further one the share that 500 are of all so far.
  const first = recordedOf(20_000, 0, sampler)
  assert.ok(first > maxTracesPerSecond && first < 5 * maxTracesPerSecond, `${first} in the first second`)
  let all = 0
  for (let second = 1; second <= 10; second++) all += recordedOf(20_000, second, sampler)
  // Ten times 500, give or take: by chance it is out of this once in a billion runs.
  assert.ok(Math.abs(all - 10 * maxTracesPerSecond) < 450, `${all} in ten seconds`)
  // It is over: the next quiet second has all of its own.
  assert.equal(recordedOf(100, 12, sampler), 100)
})

test('a configured sampling ratio applies at any rate', () => {
  const recorded = recordedOf(100_000, 0, createSampler('traceidratio', 0.25))
  assert.ok(Math.abs(recorded - 25_000) < 900, `${recorded} of 100,000`)
})
