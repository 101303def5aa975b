import { parentPort, workerData } from 'node:worker_threads'
import { now } from './child.ts'

/**
 * Posts a message when each request is due, at even intervals. A timer of the event loop would be off by a
 * millisecond.
 */
const { intervalMs } = workerData as { intervalMs: number }
const neverNotified = new Int32Array(new SharedArrayBuffer(4))
for (let due = now(); ; due += intervalMs) {
  const remaining = due - now()
  if (remaining > 0) Atomics.wait(neverNotified, 0, 0, remaining)
  parentPort?.postMessage(due)
}
