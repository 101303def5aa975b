import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttle } from '../../src/backup/throttle.ts'

/** Milliseconds of CPU that the process has taken. */
const accepted = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** So many pieces, each of which takes 10 ms of CPU. */
async function* busy(pieces: number) {
  for (let piece = 0; piece < pieces; piece++) {
    const end = accepted() + 10
    while (accepted() < end) Math.hypot(piece, end)
    yield piece
  }
}

test('chunked work stays within its CPU share after a short burst', async () => {
  const began = performance.now()
  const pieces = await Array.fromAsync(throttle(busy(40), 0.1))
  assert.deepEqual(pieces, [...Array(40).keys()])
  // 400 ms, of which 200 are at a tenth.
  assert.ok(performance.now() - began > 1_900)
})
