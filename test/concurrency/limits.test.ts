import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fairQueue } from '../../src/concurrency/fair-queue.ts'
import { semaphore } from '../../src/concurrency/semaphore.ts'

const toError = (reason: string) => new Error(reason)

test('keys with waiting callers take turns', async () => {
  const queue = fairQueue<string>({ permits: 1 })
  const release = await queue.acquire('own')
  const order: string[] = []
  const callers = ['a', 'a', 'a', 'b', 'c', 'b'].map(async key => {
    const releaseOwn = await queue.acquire(key)
    order.push(key)
    releaseOwn()
  })
  assert.equal(queue.waiting, 6)
  release()
  await Promise.all(callers)
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a'])
  assert.deepEqual([queue.active, queue.waiting], [0, 0])
})

test('a caller that waits too long is rejected and leaves the queue', async () => {
  const queue = fairQueue<string>({ permits: 1, timeoutMs: 10, toError })
  const release = await queue.acquire('a')
  await assert.rejects(queue.acquire('b'), /timeout/)
  assert.equal(queue.waiting, 0)
  release()
  assert.equal(queue.active, 0)
})

test('an aborted caller is rejected and the next one is served', async () => {
  const limit = semaphore({ permits: 1, toError })
  const release = await limit.acquire()
  const abort = new AbortController()
  const aborted = limit.acquire(abort.signal)
  const next = limit.acquire()
  abort.abort()
  await assert.rejects(aborted, /aborted/)
  await assert.rejects(limit.acquire(AbortSignal.abort()), /aborted/)
  release()
  ;(await next)()
  assert.equal(limit.active, 0)
})

test('a caller is rejected immediately if too many wait', async () => {
  const limit = semaphore({ permits: 1, maxWaiting: 1, toError })
  const release = await limit.acquire()
  const waiting = limit.acquire()
  await assert.rejects(limit.acquire(), /full/)
  release()
  await waiting
  assert.equal(limit.active, 1)
})

test('a permit that is released twice is free once', async () => {
  const limit = semaphore({ permits: 2 })
  const [first] = await Promise.all([limit.acquire(), limit.acquire()])
  first?.()
  first?.()
  assert.equal(limit.active, 1)
})

test('work that fails gives its permit back', async () => {
  const limit = semaphore({ permits: 1 })
  await assert.rejects(limit.run(() => Promise.reject(new Error('failed'))))
  assert.equal(await limit.run(async () => 'next'), 'next')
})

test('work that throws before it returns a promise gives its permit back', async () => {
  const limit = semaphore({ permits: 1 })
  const failing = (): Promise<never> => {
    throw new Error('thrown at once')
  }
  await assert.rejects(limit.run(failing), /thrown at once/)
  assert.equal(limit.active, 0)
})
