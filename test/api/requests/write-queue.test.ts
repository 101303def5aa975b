import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { defaultSettings, type Service } from '../../../src/domain/tenancy/service-settings.ts'
import { ApiError } from '../../../src/errors/api-error.ts'
import { writeQueue } from '../../../src/writes/fair-queue.ts'

// Timeouts fire only if a test moves the clock.
beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
})

const buildService = (name: string): Service => ({ id: name.charCodeAt(0), name, settings: defaultSettings })
const [a, b, busy] = [buildService('a'), buildService('b'), buildService('busy')]

/** Requests permits for services and records the order in which they are granted. */
function startQueue(connections: number) {
  const queue = writeQueue(connections)
  const granted: { name: string; release: () => void }[] = []
  return {
    queue,
    listGranted: async () => {
      await new Promise(setImmediate)
      return granted.map(({ name }) => name).join(' ')
    },
    acquire(...services: (Service | undefined)[]) {
      for (const shop of services)
        if (shop) void queue.acquire(shop).then(release => granted.push({ name: shop.name, release }))
    },
    release: (name: string) =>
      granted
        .splice(
          granted.findIndex(entry => entry.name === name),
          1,
        )[0]
        ?.release(),
  }
}

test('the limiter admits as many requests as there are connections', async () => {
  const { acquire, listGranted, queue, release } = startQueue(3)
  acquire(...Array.from({ length: 50 }, () => a), b)
  assert.equal(await listGranted(), 'a a a')
  assert.equal(queue.waiting, 48)
  release('a')
  release('a')
  assert.equal(await listGranted(), 'a a b')
  assert.equal(queue.waiting, 46)
})

test('waiting services are admitted in turn', async () => {
  const { acquire, listGranted, release } = startQueue(2)
  acquire(busy, busy)
  await listGranted()
  acquire(a, a, a, b, b)
  release('busy')
  release('busy')
  const order = []
  for (let i = 0; i < 5; i++) {
    const [next] = (await listGranted()).split(' ')
    if (!next) break
    order.push(next)
    release(next)
  }
  assert.deepEqual(order, ['a', 'b', 'a', 'b', 'a'])
})

test('a request not admitted within 5 s is 503 and leaves nothing', async () => {
  const queue = writeQueue(1)
  const release = await queue.acquire(a as Service)
  const late = queue.acquire(a as Service)
  mock.timers.tick(5_000)
  await assert.rejects(late, (error: unknown) => error instanceof ApiError && error.code === 'service_unavailable')
  assert.equal(queue.waiting, 0)
  release()
  ;(await queue.acquire(b as Service))()
})
