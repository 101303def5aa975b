import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { buildEnvironment, createImporter } from '../../import/import-command.ts'
import { buildOrder, buildReturn, createReturn, getCreatedRecord, startOrderShop } from '../../support/order-shop.ts'
import { createDirectory, serve } from '../../support/processes.ts'
import { createRequester, sendThrough } from '../../support/servers.ts'
import type { Caller } from '../../support/service.ts'
import { post, remove } from '../../support/write.ts'

/** The number of runs. `npm run scenario -- stock-model` runs more. */
const numRuns = Number(process.env.STOCK_MODEL_RUNS ?? 3)
/** The random seed. Set it to repeat the runs of an earlier test. */
const seed = Number(process.env.STOCK_MODEL_SEED) || Date.now() % 2 ** 31

const { api, createShop } = await startOrderShop()
const runImport = createImporter(api)
// The process of this test serves half of the requests, and a second process the other half.
const secondProcess = await serve(['--no-demo'], { ...buildEnvironment(api, createDirectory()), RUN_JOBS: 'true' })
const sendToSecond = createRequester({
  baseUrl: secondProcess.baseUrl,
  ca: readFileSync(secondProcess.caFile ?? '', 'utf8'),
})
after(() => api.stop())

interface ModelOrder {
  id: string
  shipped: number
  cancelled: number
  returned: number
  quantity: number
}

/** The model: the units of one SKU in one store. */
interface Model {
  freeStock: number
  reservations: { id: string; quantity: number }[]
  orders: ModelOrder[]
}

const countOpen = ({ quantity, shipped, cancelled }: ModelOrder) => quantity - shipped - cancelled
const sum = (counts: readonly number[]) => counts.reduce((total, value) => total + value, 0)
const computeLevels = ({ freeStock, reservations, orders }: Model) => {
  const reserved = sum(reservations.map(({ quantity }) => quantity))
  const allocated = sum(orders.map(countOpen))
  return { freeStock, reserved, allocated, sellable: Math.max(0, freeStock - reserved - allocated) }
}

const action = fc.record({
  kind: fc.constantFrom(
    'reserve',
    'release',
    'order',
    'orderReserved',
    'import',
    'sync',
    'ship',
    'cancel',
    'return',
    'exchange',
  ),
  units: fc.integer({ min: 1, max: 4 }),
  pick: fc.nat(9),
  server: fc.nat(1),
})
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const buildTeeLine = (quantity: number) => ({ sku: 'TEE', quantity })

test('stock follows its model over orders, returns, exchanges, imports and syncs', async t => {
  t.diagnostic(`seed ${seed}`)
  const shop = await createShop({ fulfilment: 'manual', oversell: 'refuse' })
  const callers: Caller[] = [shop, { ...shop, ...sendThrough(sendToSecond, shop) }]

  /** Executes an action and updates the model. Fails if the response is not the one that the model permits. */
  async function execute(model: Model, { kind, units, pick, server }: Action) {
    const caller = callers[server] ?? shop
    const { sellable } = computeLevels(model)
    const reservation = model.reservations[pick % model.reservations.length]
    const order = model.orders[pick % model.orders.length]
    const expectStatus = (response: Awaited<ReturnType<typeof post>>, isPermitted: boolean, status = 201) => {
      assert.equal(response.status === status, isPermitted, `${kind} ${units}: ${response.status} ${response.text}`)
      return isPermitted
    }
    const sendAction = (path: string) =>
      post(caller, `/orders/${order?.id}/${path}`, { lines: [{ orderLineId: '1', quantity: units }] })
    const setStock = (freeStock: number) => {
      model.freeStock = freeStock
    }
    switch (kind) {
      case 'reserve': {
        const response = await post(caller, '/reservations', { lines: [buildTeeLine(units)] })
        if (expectStatus(response, units <= sellable))
          model.reservations.push({ id: response.json.data.id, quantity: units })
        return
      }
      case 'release':
        if (!reservation) return
        expectStatus(await remove(caller, `/reservations/${reservation.id}`), true, 200)
        model.reservations = model.reservations.filter(item => item !== reservation)
        return
      case 'order':
      case 'orderReserved': {
        const usedReservation = kind === 'order' ? undefined : reservation
        const remaining = {
          ...model,
          reservations: model.reservations.filter(reserved => reserved !== usedReservation),
        }
        const response = await post(
          caller,
          '/orders',
          buildOrder([buildTeeLine(units)], usedReservation && { reservationId: usedReservation.id }),
        )
        if (!expectStatus(response, units <= computeLevels(remaining).sellable)) return
        model.reservations = remaining.reservations
        model.orders.push({ id: response.json.data.id, quantity: units, shipped: 0, cancelled: 0, returned: 0 })
        return
      }
      case 'import':
        assert.equal((await runImport(shop, 'stock', `storeNumber,sku,freeStock\n102,TEE,${units * 3}\n`)).code, 0)
        return setStock(units * 3)
      case 'sync':
        await upsertStock(api.db, shop.service, [{ storeId: '1002', skuId: 'id-TEE', freeStock: units * 2 }])
        return setStock(units * 2)
      case 'ship':
        if (!order || !expectStatus(await sendAction('shipments'), units <= countOpen(order))) return
        order.shipped += units
        return setStock(model.freeStock - units)
      case 'cancel':
        if (order && expectStatus(await sendAction('cancel'), units <= countOpen(order), 200)) order.cancelled += units
        return
      case 'return': {
        if (!order) return
        const response = await createReturn(caller, order.id, { TEE: units })
        if (!expectStatus(response, units <= order.shipped - order.returned)) return
        order.returned += units
        const receive = (body: object) => post(caller, `/returns/${getCreatedRecord(response).id}/receive`, body)
        expectStatus(await receive({ lines: [{ returnLineId: '1', quantity: 1 }] }), true, 200)
        if (units > 1) expectStatus(await receive({}), true, 200)
        return setStock(model.freeStock + units)
      }
      case 'exchange': {
        if (!order) return
        // The replacement has the same units, so the return pays for it.
        const body = {
          orderReturn: buildReturn({ TEE: units }),
          order: buildOrder([buildTeeLine(units)], { payments: [] }),
        }
        const response = await post(caller, `/orders/${order.id}/exchanges`, body)
        if (!expectStatus(response, units <= order.shipped - order.returned && units <= sellable)) return
        order.returned += units
        const exchanged = getCreatedRecord(response)
        model.orders.push({ id: exchanged.order.id, quantity: units, shipped: 0, cancelled: 0, returned: 0 })
        expectStatus(await post(caller, `/returns/${exchanged.orderReturn.id}/receive`, {}), true, 200)
        return setStock(model.freeStock + units)
      }
    }
  }

  async function assertMatchesModel(model: Model) {
    const { freeStock, reserved, allocated, sellable } = (await shop.get('/inventory?sku=TEE')).json.data[0]
    assert.deepEqual({ freeStock, reserved, allocated, sellable }, computeLevels(model))
    for (const order of model.orders) {
      const [line] = (await shop.get(`/orders/${order.id}`)).json.data.lines
      const { id, ...units } = order
      const { quantity, shipped, cancelled, returned } = line
      assert.deepEqual({ quantity, shipped, cancelled, returned }, units, id)
    }
  }

  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30 }), async actions => {
      const model: Model = { freeStock: 5, reservations: [], orders: [] }
      await upsertStock(api.db, shop.service, [{ storeId: '1002', skuId: 'id-TEE', freeStock: 5 }])
      for (const planned of actions) {
        await execute(model, planned)
        await assertMatchesModel(model)
      }
      // The next run begins without reserved and allocated units.
      for (const { id } of model.reservations) await remove(shop, `/reservations/${id}`)
      for (const order of model.orders) if (countOpen(order) > 0) await post(shop, `/orders/${order.id}/cancel`, {})
    }),
    { numRuns, seed, endOnFailure: true },
  )
})
