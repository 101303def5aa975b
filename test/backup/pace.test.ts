import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttle } from '../../src/backup/throttle.ts'

/** Returns the CPU time of the process in milliseconds. */
const getCpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Yields numbers, each after 10 ms of CPU time. */
async function* useCpu(pieces: number) {
  for (let piece = 0; piece < pieces; piece++) {
    const end = getCpuMs() + 10
    while (getCpuMs() < end) Math.hypot(piece, end)
    yield piece
  }
}

test('chunked work stays within its CPU share after a short burst', async () => {
  const startedAt = performance.now()
  const pieces = await Array.fromAsync(throttle(useCpu(40), 0.1))
  assert.deepEqual(pieces, [...Array(40).keys()])
  // 400 ms of CPU time, of which 200 ms run at a tenth of the speed.
  assert.ok(performance.now() - startedAt > 1_900)
})
