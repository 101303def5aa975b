import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoff, withJitter } from '../../src/concurrency/backoff.ts'

test('delays grow to the maximum and begin again after a reset', () => {
  const delays = backoff({ initialMs: 100, maxMs: 350 })
  assert.deepEqual([delays.next(), delays.next(), delays.next(), delays.next()], [100, 200, 350, 350])
  delays.reset()
  assert.equal(delays.next(), 100)
})

test('jitter stays within a fifth of the delay', () => {
  for (let i = 0; i < 1_000; i++) {
    const delayMs = withJitter(1_000)
    assert.ok(delayMs >= 800 && delayMs <= 1_200, String(delayMs))
  }
})
