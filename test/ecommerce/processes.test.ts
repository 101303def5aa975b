import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { computeOnHand } from '../../simulator/shopify/state.ts'
import { mainConnection } from '../../src/domain/ecommerce/connection-settings.ts'
import { createBudget, reservePoints } from '../../src/store/ecommerce/budget.ts'
import { getDatabaseEnvironment } from '../support/database.ts'
import { checkout, type RunningCommand, startCommand, waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type ConnectedShop, connectShop } from './connected-shop.ts'

/** Number of kills in the random run. The longer form is `npm run scenario -- stock-push`. */
const kills = Number(process.env.STOCK_PUSH_KILLS ?? 6)
/** Set `STOCK_PUSH_SEED` to repeat an earlier run. */
const seed = Number(process.env.STOCK_PUSH_SEED) || Date.now() % 2 ** 31

const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let fixture: ConnectedShop
before(async () => {
  api = await startTestApi()
})
after(async () => {
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  fixture = await connectShop(api, simulator)
})

const startProcess = (work: 'push' | 'reconcile' | 'sync'): RunningCommand =>
  startCommand(
    [String(fixture.shop.service.id), work],
    { ...getDatabaseEnvironment(api.database), SECRET_KEY: api.secret },
    { program: [process.execPath, `${checkout}/test/ecommerce/push-process.ts`] },
  )
async function kill(command: RunningCommand) {
  command.child.kill('SIGKILL')
  await command.ended
}
const countRuns = ({ out }: RunningCommand) => out.split('\n').length - 1
const listSkus = () => Object.keys(fixture.items)

/** Lists the quantities that calls have set, from call number `first` on. */
const listSets = (first: number) =>
  simulator.calls
    .slice(first)
    .filter(({ operation }) => operation === 'SetQuantities')
    .flatMap(
      ({ variables }) =>
        (variables as { input: { quantities: { inventoryItemId: string; locationId: string; quantity: number }[] } })
          .input.quantities,
    )

test('concurrent calls get no more points than there are', async () => {
  const { service } = fixture.shop
  await createBudget(api.db, service, mainConnection)
  const began = performance.now()
  const waits = await Promise.all(
    Array.from({ length: 200 }, () => reservePoints(api.db, service, mainConnection, 'stock', 10)),
  )
  const granted = waits.filter(seconds => seconds === 0).length
  const restored = ((performance.now() - began) / 1_000) * 100
  assert.ok(granted >= 90 && granted * 10 <= 900 + restored, `${granted} calls in ${restored / 100} s`)
})

test('I6: four processes share one budget and are not throttled', async () => {
  for (let i = 0; i < 500; i++) fixture.addVariant(`X${i}`, 1)
  await fixture.sync('ecommerce-variants')
  const first = simulator.calls.length
  const running = [startProcess('push'), startProcess('reconcile'), startProcess('sync'), startProcess('sync')]
  for (let free = 20; free > 8; free--) {
    for (const sku of listSkus()) await fixture.setStock(sku, free)
    await delay(250)
  }
  // If the processes didn't share the points, 100 calls would use more than their class has.
  await waitUntil(
    () => running.every(command => countRuns(command) > 8) && simulator.calls.length > first + 100,
    'each process has worked nine times, and all have sent 100 calls',
    120_000,
  )
  await Promise.all(running.map(kill))
  assert.deepEqual(
    running.map(({ err }) => err),
    ['', '', '', ''],
  )
  const calls = simulator.calls.slice(first)
  assert.equal(calls.filter(({ isThrottled }) => isThrottled).length, 0)
  await fixture.push()
  for (const sku of listSkus()) assert.equal(computeOnHand(fixture.getLevel(sku)), 9, sku)
})

test(`I1, I2: kills leave no level wrong (seed ${seed})`, async t => {
  t.diagnostic(`seed ${seed}, ${kills} kills`)
  const random = fc.sample(fc.nat(1_000_000), { seed, numRuns: 20 * kills + 20 })
  const drawBelow = (below: number) => (random.pop() ?? 0) % below
  let falling = 10_000
  await fixture.setStock('12003', falling)
  await fixture.push()
  const first = simulator.calls.length
  for (let killed = 0; killed < kills; killed++) {
    const command = startProcess(drawBelow(4) === 0 ? 'reconcile' : 'push')
    await waitUntil(() => countRuns(command) > 0 || command.child.exitCode !== null, 'the process works', 60_000)
    assert.equal(command.err, '')
    for (let change = drawBelow(4); change >= 0; change--) {
      falling -= 1 + drawBelow(3)
      await fixture.setStock('12003', falling)
      await fixture.setStock('12001', drawBelow(30))
      const [itemId, locationId] = [fixture.items['12002'] ?? 0, fixture.locations[drawBelow(2)] ?? 0]
      if (drawBelow(3) === 0) simulator.change({ kind: 'count', itemId, locationId, available: drawBelow(50) })
      if (drawBelow(4) === 0) simulator.faults.add({ kind: 'lost-response', path: '/SetQuantities', times: 1 })
      await delay(drawBelow(120))
    }
    await kill(command)
  }
  simulator.faults.clear()
  await fixture.ageQuantities()
  await fixture.push()
  await fixture.reconcile()
  await fixture.push()
  for (const sku of listSkus())
    for (const at of [0, 1]) {
      const level = (
        await fixture.shop.get(`/ecommerce/levels?itemId=gid://shopify/InventoryItem/${fixture.items[sku]}`)
      ).json.data[at]
      assert.deepEqual([level.state, level.knownOnHand], ['inStep', level.desiredOnHand], sku)
    }
  for (const sku of listSkus()) assert.equal(computeOnHand(fixture.getLevel(sku, 1)), 7, sku)
  assert.equal(computeOnHand(fixture.getLevel('12003')), falling)
  const sentQuantities = listSets(first)
    .filter(
      ({ inventoryItemId, locationId }) =>
        inventoryItemId.endsWith(`/${fixture.items['12003']}`) && locationId.endsWith(`/${fixture.locations[0]}`),
    )
    .map(({ quantity }) => quantity)
  assert.ok(sentQuantities.length > 0)
  // Equal neighbours are one call that was repeated under its key.
  assert.deepEqual(
    sentQuantities,
    sentQuantities.toSorted((a, b) => b - a),
  )
  await fixture.ageQuantities()
  assert.equal((await fixture.reconcile()).counts.drifted, 0)
})
