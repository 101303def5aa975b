import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { ApiError } from '../../../src/errors.ts'
import { writeTurns } from '../../../src/http/turns.ts'
import { defaultSettings, type Service } from '../../../src/settings.ts'

// Nobody's patience ends, unless a test says so.
beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
})

const service = (name: string): Service => ({ id: name.charCodeAt(0), name, settings: defaultSettings })
const [a, b, c, own] = [service('a'), service('b'), service('c'), service('own')]

/** Asks for turns of services, and tells in which order they came. */
function asking(connections: number) {
  const turns = writeTurns(connections, ({ name }) => name !== 'own')
  const begun: { name: string; end: () => void }[] = []
  return {
    turns,
    begun: async () => {
      await new Promise(setImmediate)
      return begun.map(({ name }) => name).join(' ')
    },
    ask(...services: (Service | undefined)[]) {
      for (const one of services) if (one) void turns.take(one).then(end => begun.push({ name: one.name, end }))
    },
    end: (name: string) =>
      begun
        .splice(
          begun.findIndex(one => one.name === name),
          1,
        )[0]
        ?.end(),
  }
}

test('a service that may wait for its back office holds no more connections than it leaves free', async () => {
  const { ask, begun, turns, end } = asking(6)
  ask(...Array.from({ length: 50 }, () => a))
  assert.equal(await begun(), 'a a a')
  ask(b, b, b, c)
  assert.equal(await begun(), 'a a a b b c')
  assert.equal(turns.waiting(), 48)
  ask(own)
  assert.equal(await begun(), 'a a a b b c')
  end('c')
  assert.equal(await begun(), 'a a a b b own')
  assert.equal(turns.waiting(), 48)
})

test('one that waits for nobody may hold all of them, and an end that is told twice counts once', async () => {
  const { ask, begun, turns } = asking(2)
  const [first, second] = [await turns.take(own as Service), await turns.take(own as Service)]
  ask(own, a)
  assert.equal(await begun(), '')
  first()
  first()
  assert.equal(await begun(), 'own')
  second()
  assert.equal(await begun(), 'own a')
})

test('services that wait take turns', async () => {
  const { ask, begun, end } = asking(2)
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

test('a turn that does not come within 5 s is 503, and leaves nothing behind', async () => {
  const turns = writeTurns(1, () => true)
  const end = await turns.take(a as Service)
  const late = turns.take(a as Service)
  mock.timers.tick(5_000)
  await assert.rejects(late, (error: unknown) => error instanceof ApiError && error.code === 'service_unavailable')
  assert.equal(turns.waiting(), 0)
  end()
  ;(await turns.take(b as Service))()
})
