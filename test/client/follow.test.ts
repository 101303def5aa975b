import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { fillShop } from '../support/order-shop.ts'
import { startTestApi } from '../support/service.ts'
import { createClient, startNetwork } from './shop.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
await fillShop(api.db, api.service)
const client = createClient(api)
const renameCustomer = (id: string, surname: string) => upsertCustomers(api.db, api.service, [{ id, surname }])

test('an interrupted run repeats unsaved changes and the next continues', async () => {
  let savedCursor: string | undefined
  /** Follows changes until `count` have arrived. `onEach` runs after each change. Returns the changes. */
  const run = async (count: number, onEach = async (_: number) => {}) => {
    const ids: string[] = []
    const save = (cursor: string) => {
      savedCursor = cursor
    }
    for await (const { kind, id, action } of client.follow({ kinds: ['store', 'customer'], from: savedCursor, save })) {
      ids.push(`${action} ${kind} ${id}`)
      await onEach(ids.length)
      if (ids.length === count) break
    }
    return ids
  }
  const expected = ['store 1001', 'store 1002', 'customer 65432', 'customer 65433'].map(record => `changed ${record}`)
  assert.equal((await run(3)).length, 3)
  assert.equal(savedCursor, undefined)
  const ids = await run(5, async count => {
    if (count === 4) await renameCustomer('65432', 'Smythe')
  })
  assert.deepEqual(ids.slice(0, 4).sort(), expected.sort())
  assert.equal(ids[4], 'changed customer 65432')
  await renameCustomer('65433', 'Smythe')
  assert.deepEqual(await run(2), ['changed customer 65432', 'changed customer 65433'])
})

test('changes arrive live with records, even after an outage', async () => {
  const server = await startTestApi({ sharedWith: api })
  const network = await startNetwork(server.baseUrl)
  const end = new AbortController()
  const ids: string[] = []
  const { asOf: _, endCursor } = (await api.get('/changes?kinds=customer')).json.meta
  const following = (async () => {
    const proxyClient = createClient(server, api, { url: network.url })
    const options = { kinds: ['customer'], from: endCursor, records: true, signal: end.signal }
    for await (const { record } of proxyClient.follow(options)) ids.push((record as { surname: string }).surname)
  })()
  const waitForSurname = async (surname: string) => {
    while (ids.at(-1) !== surname) await delay(10)
  }
  await renameCustomer('65432', 'One')
  await waitForSurname('One')
  await server.stop()
  await renameCustomer('65432', 'Two')
  await delay(300)
  const restarted = await startTestApi({ sharedWith: api })
  after(() => restarted.stop())
  createClient(restarted)
  network.redirectTo(restarted.baseUrl)
  await waitForSurname('Two')
  network.loseResponses(1)
  await renameCustomer('65432', 'Three')
  await waitForSurname('Three')
  assert.deepEqual(ids, ['One', 'Two', 'Three'])
  end.abort()
  await following
})

test('an unknown position ends the subscription', async () => {
  await assert.rejects(client.follow({ from: 'x'.repeat(40) }).next(), { code: 'invalid_cursor' })
})
