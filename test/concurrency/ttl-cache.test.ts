import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { memoize, ttlCache, ttlMap } from '../../src/concurrency/ttl-cache.ts'

test('a map evicts the least recently used entry first', () => {
  const map = ttlMap<number>({ maxEntries: 2 })
  map.set('a', 1)
  map.set('b', 2)
  assert.equal(map.get('a'), 1)
  map.set('c', 3)
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => map.get(key)),
    [1, undefined, 3],
  )
})

test('an entry expires after its time', async () => {
  const map = ttlMap<number>({ ttlMs: 20 })
  map.set('a', 1)
  assert.equal(map.get('a'), 1)
  await delay(30)
  assert.equal(map.get('a'), undefined)
})

test('concurrent callers share the load of a key', async () => {
  let loads = 0
  const cache = ttlCache({ load: async key => `${key}${++loads}` })
  assert.deepEqual(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')]), ['a1', 'a1', 'b2'])
  assert.equal(await cache.get('a'), 'a1')
})

test('a failed load is not cached', async () => {
  let loads = 0
  const get = memoize(async () => {
    if (++loads === 1) throw new Error('the first load fails')
    return loads
  })
  await assert.rejects(Promise.all([get(), get()]), /the first load fails/)
  assert.equal(await get(), 2)
})

test('a caller can require a value loaded after a given time', async () => {
  let loads = 0
  const cache = ttlCache({ load: async () => ++loads })
  await cache.get('a')
  const now = performance.now()
  assert.equal(await cache.get('a', now - 1_000), 1)
  assert.equal(await cache.get('a', now), 2)
})

test('a late failure does not delete the value of a newer load', async () => {
  const first = Promise.withResolvers<number>()
  const loads = [first.promise, Promise.resolve(2)]
  const cache = ttlCache({ load: () => loads.shift() ?? Promise.resolve(3) })
  const failing = cache.get('a')
  assert.equal(await cache.get('a', performance.now() + 1), 2)
  first.reject(new Error('late'))
  await assert.rejects(failing)
  assert.equal(await cache.get('a'), 2)
})
