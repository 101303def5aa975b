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

const service = (name: string): Service => ({ id: name.charCodeAt(0), name, settings: defaultSettings })
const [a, b, own] = [service('a'), service('b'), service('own')]

/** Requests permits for services and records the order in which they are granted. */
function startQueue(connections: number) {
  const queue = writeQueue(connections)
  const begun: { name: string; end: () => void }[] = []
  return {
    queue,
    begun: async () => {
      await new Promise(setImmediate)
      return begun.map(({ name }) => name).join(' ')
    },
    ask(...services: (Service | undefined)[]) {
      for (const shop of services) if (shop) void queue.acquire(shop).then(end => begun.push({ name: shop.name, end }))
    },
    end: (name: string) =>
      begun
        .splice(
          begun.findIndex(entry => entry.name === name),
          1,
        )[0]
        ?.end(),
  }
}

test('the limiter admits as many requests as there are connections', async () => {
  const { ask, begun, queue, end } = startQueue(3)
  ask(...Array.from({ length: 50 }, () => a), b)
  assert.equal(await begun(), 'a a a')
  assert.equal(queue.waiting, 48)
  end('a')
  end('a')
  assert.equal(await begun(), 'a a b')
  assert.equal(queue.waiting, 46)
})

test('waiting services are admitted in turn', async () => {
  const { ask, begun, end } = startQueue(2)
  ask(own, own)
  await begun()
  ask(a, a, a, b, b)
  end('own')
  end('own')
  const order = []
  for (let i = 0; i < 5; i++) {
    const [next] = (await begun()).split(' ')
    if (!next) break
    order.push(next)
    end(next)
  }
  assert.deepEqual(order, ['a', 'b', 'a', 'b', 'a'])
})

test('a request not admitted within 5 s is 503 and leaves nothing', async () => {
  const queue = writeQueue(1)
  const end = await queue.acquire(a as Service)
  const late = queue.acquire(a as Service)
  mock.timers.tick(5_000)
  await assert.rejects(late, (error: unknown) => error instanceof ApiError && error.code === 'service_unavailable')
  assert.equal(queue.waiting, 0)
  end()
  ;(await queue.acquire(b as Service))()
})
