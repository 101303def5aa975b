import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { neverRespond, parseChanges, respondWith } from '../../support/webhooks/receiver.ts'
import { setUpHooks } from './hooks.ts'

const hooks = setUpHooks()
const { begin, customers, hook, until } = hooks

/** Nothing listens on this port. */
const dead = 'http://127.0.0.1:1024/hooks'

test('half of 200 endpoints hang or fail without delaying the others', async t => {
  for (let i = 0; i < 50; i++) {
    await hook({ url: `${hooks.receiver.url}/hanging${i}` })
    await hook({ url: dead })
    for (const side of ['left', 'right']) await hook({ url: `${hooks.receiver.url}/${side}${i}` })
  }
  hooks.receiver.respond = (received, response) =>
    received.path.includes('hanging') ? neverRespond(received, response) : respondWith(204)(received, response)
  begin()
  const lags: number[] = []
  for (let round = 0; round < 5; round++) {
    const from = hooks.receiver.received.length
    const [id = ''] = await customers(`Round ${round}`)
    const committed = Date.now()
    const live = () => hooks.receiver.received.slice(from).filter(({ path }) => !path.includes('hanging'))
    await until(
      () => live().filter(delivery => delivery.body.includes(`/customers/${id}"`)).length === 100,
      'all webhooks get it',
      30_000,
    )
    lags.push(Math.max(...live().map(({ at }) => at)) - committed)
    await delay(500)
  }
  t.diagnostic(`lag of the slowest of 100 live endpoints: ${lags.map(ms => `${ms} ms`).join(', ')}`)
  // An endpoint that hangs delays only itself, for 15 s. The bench measures the lag on a quiet machine.
  assert.ok(Math.max(...lags) < 15_000, `${lags}`)
})

test('an import of many records is delivered in batches of a hundred', async t => {
  const { id } = await hook()
  for (let from = 0; from < 20_000; from += 1_000) {
    const names = Array.from({ length: 1_000 }, (_, i) => ({ id: `c${from + i}`, firstname: 'Ann', surname: 'Smith' }))
    await upsertCustomers(hooks.api.db, hooks.api.service, names)
  }
  const begun = performance.now()
  begin()
  const { received } = hooks.receiver
  await until(() => received.length >= 200, 'all changes are delivered', 60_000)
  const seconds = (performance.now() - begun) / 1_000
  t.diagnostic(`${received.length} deliveries, ${Math.round(received.length / seconds)} a second`)
  assert.equal(received.length, 200)
  assert.equal(new Set(parseChanges(received).map(change => change.id)).size, 20_000)
  await until(async () => (await hooks.shown(id)).lag.pendingSince === null, 'it is up to date')
})
