import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { stepReturn } from '../../../src/backoffice/embedded/returns.ts'
import { sql } from '../../../src/db.ts'
import type { ReturnStep } from '../../../src/domain/orders/returns.ts'
import { Return } from '../../../src/domain/orders/returns.ts'
import { faultsOf } from '../../../src/http/shape.ts'
import {
  cents,
  joinRewards,
  made,
  type OrderShop,
  orderOf,
  placed,
  returnOf,
  salesOf,
  startOrderShop,
  stockOf,
} from '../../support/order-shop.ts'
import { faultsIn, isProblem } from '../../support/problem.ts'
import type { Answer, Caller } from '../../support/service.ts'
import { post } from '../../support/write.ts'

let api: OrderShop['api']
let shop: OrderShop['another']
before(async () => {
  ;({ api, another: shop } = await startOrderShop())
})
after(() => api.stop())

const giveBack = (caller: Caller, orderId: string, units: Record<string, number>, more: object = {}, headers = {}) =>
  post(caller, `/orders/${orderId}/returns`, returnOf(units, more), headers)
const returnable = async (caller: Caller, orderId: string) =>
  (await caller.get(`/orders/${orderId}/returnable`)).json.data
const step = (caller: Caller, number: string, name: ReturnStep) =>
  api.db.transaction(tx => stepReturn(tx, caller.service, number, name))
const details = ({ json }: Answer) => json.errors.map((fault: { detail: string }) => fault.detail)

/** Asserts that one was made and the others were refused for want of units. */
function onlyMade(answers: Answer[], count: number) {
  assert.equal(answers.filter(answer => answer.status === 201).length, count)
  for (const answer of answers)
    if (answer.status !== 201) assert.equal(answer.json.code, 'quantity_exceeds_returnable', answer.text)
}

test('a return comes back with its numbers, its lines and what is refunded for them', async () => {
  const order = await placed(api, [
    { sku: 'HOOD-S', quantity: 3, discounts: [{ type: 'loyalty', amount: '9.97' }] },
    { sku: 'TEE', quantity: 1 },
  ])
  const answer = await post(api, `/orders/${order.id}/returns`, {
    returnNumber: 'RMA-1',
    lines: [
      { sku: 'TEE', quantity: 1, reasonCode: 'FAULTY', notes: 'A hole.\nNear the hem.' },
      { sku: 'HOOD-S', quantity: 2, reasonCode: 'SIZE' },
    ],
    restock: false,
  })
  const record = made(answer)
  const { id, createdAt, updateTimeStamp, ...rest } = record
  assert.equal(answer.headers.location, `/returns/${id}`)
  assert.match(createdAt, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  assert.equal(updateTimeStamp, createdAt)
  assert.deepEqual(rest, {
    returnNumber: 'RMA-1',
    returnAuthorisationNumber: 'RA-RMA-1',
    orderId: order.id,
    orderNumber: order.orderNumber,
    customerId: '65432',
    status: 'requested',
    restock: false,
    currency: 'AUD',
    // Of 80.00 for three.
    total: '63.33',
    lines: [
      {
        id: '1',
        sequence: 1,
        orderLineId: '2',
        sku: 'TEE',
        quantity: 1,
        reasonCode: 'FAULTY',
        notes: 'A hole.\nNear the hem.',
        value: '10.00',
      },
      {
        id: '2',
        sequence: 2,
        orderLineId: '1',
        sku: 'HOOD-S',
        quantity: 2,
        reasonCode: 'SIZE',
        notes: null,
        value: '53.33',
      },
    ],
  })
  assert.deepEqual(faultsOf(Return, record, { currency: 'AUD' }), [])

  const read = await api.get(`/returns/${id}`)
  assert.deepEqual(read.json.data, record)
  assert.equal(read.headers.etag, answer.headers.etag)
  assert.equal((await api.get(`/returns/${id}`, { 'if-none-match': read.headers.etag })).status, 304)
  assert.deepEqual((await api.get(`/orders/${order.id}/returns`)).json.data, [record])
  assert.deepEqual(await returnable(api, order.id), [
    { sku: 'HOOD-S', sold: 3, returned: 2, returnable: 1 },
    { sku: 'TEE', sold: 1, returned: 1, returnable: 0 },
  ])
  const lines = (await api.get(`/orders/${order.id}`)).json.data.lines
  assert.deepEqual(
    lines.map((line: { returned: number; status: string }) => [line.returned, line.status]),
    [
      [2, 'shipped'],
      [1, 'returned'],
    ],
  )
  // The last one is worth what is left.
  assert.equal(made(await giveBack(api, order.id, { 'HOOD-S': 1 })).total, '26.67')
})

test('the reasons are those of the service', async () => {
  const reasons = [{ code: 'TIGHT', name: 'Too tight' }]
  const own = await shop({ returnReasons: reasons })
  assert.deepEqual((await own.get('/return-reasons')).json, { data: reasons })
  assert.equal((await api.get('/return-reasons')).json.data[0].code, 'SIZE')
  const { id } = await placed(own, [{ sku: 'TEE', quantity: 1 }])
  const answer = await giveBack(own, id, { TEE: 1 })
  isProblem(answer, 'invalid_field', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(faultsIn(answer), ['/lines/0/reasonCode invalid_field'])
  assert.deepEqual(details(answer), ['`reasonCode` is one of `TIGHT`.'])
})

test('SKUs that are not on the order are all named, and nothing is created, the good lines included', async () => {
  const own = await shop()
  const { id, orderNumber } = await placed(own, [{ sku: 'TEE', quantity: 2 }])
  const stock = await stockOf(own)
  const answer = await giveBack(own, id, { TEE: 1, 'HOOD-S': 1, NONE: 1 })
  isProblem(answer, 'sku_not_on_order', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(faultsIn(answer), ['/lines/1/sku sku_not_on_order', '/lines/2/sku sku_not_on_order'])
  assert.deepEqual(details(answer), [`HOOD-S is not on order ${orderNumber}.`, `NONE is not on order ${orderNumber}.`])
  assert.deepEqual((await own.get(`/orders/${id}/returns`)).json.data, [])
  assert.deepEqual(await returnable(own, id), [{ sku: 'TEE', sold: 2, returned: 0, returnable: 2 }])
  assert.deepEqual(await stockOf(own), stock)
  assert.equal((await salesOf(own, orderNumber)).length, 1)
})

test('all faults of a return are told at once, what is wrong in itself first', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  const answer = await post(api, `/orders/${id}/returns`, {
    lines: [
      { sku: 'TEE', quantity: 2, reasonCode: 'SIZE' },
      { sku: 'tee', quantity: 1, reasonCode: 'NO' },
    ],
  })
  assert.equal(answer.status, 422)
  assert.deepEqual(faultsIn(answer), [
    '/lines/1/sku sku_not_on_order',
    '/lines/1/reasonCode invalid_field',
    '/lines/0/quantity quantity_exceeds_returnable',
  ])
})

test('SKUs that differ in their case only are two', async () => {
  const { id, orderNumber } = await placed(api, [{ sku: '85049a', quantity: 1 }])
  const answer = await giveBack(api, id, { '85049A': 1 })
  assert.deepEqual(details(answer), [`85049A is not on order ${orderNumber}.`])
  const both = await placed(api, [
    { sku: '85049A', quantity: 2 },
    { sku: '85049a', quantity: 1 },
  ])
  assert.equal((await giveBack(api, both.id, { '85049a': 2 })).status, 409)
  assert.equal(made(await giveBack(api, both.id, { '85049A': 2 })).total, '5.00')
})

test('two returns of two out of three sold at once: one is made, the other is told what is left', async () => {
  const { id } = await placed(api, [{ sku: 'HOOD-M', quantity: 3 }])
  const answers = await Promise.all([giveBack(api, id, { 'HOOD-M': 2 }), giveBack(api, id, { 'HOOD-M': 2 })])
  onlyMade(answers, 1)
  const [refused] = answers.filter(answer => answer.status === 409)
  assert.ok(refused)
  isProblem(refused, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(details(refused), ['Of HOOD-M 1 can be returned, not 2.'])
  assert.deepEqual(await returnable(api, id), [{ sku: 'HOOD-M', sold: 3, returned: 2, returnable: 1 }])
})

test('of twenty single returns of five sold at once five are made', async () => {
  const own = await shop()
  const { id, orderNumber } = await placed(own, [
    { sku: 'HOOD-S', quantity: 2 },
    { sku: 'HOOD-S', quantity: 3, discounts: [{ type: 'staff', amount: '0.01' }] },
  ])
  const stock = await stockOf(own)
  const answers = await Promise.all(Array.from({ length: 20 }, () => giveBack(own, id, { 'HOOD-S': 1 })))
  onlyMade(answers, 5)
  const back = answers.filter(answer => answer.status === 201).map(made)
  assert.equal(new Set(back.map(each => each.returnNumber)).size, 5)
  assert.equal(
    back.reduce((sum, each) => sum + cents(each.total), 0),
    5 * 2999 - 1,
  )
  assert.equal((await stockOf(own))['1002 HOOD-S'], (stock['1002 HOOD-S'] ?? 0) + 5)
  const sales = await salesOf(own, orderNumber)
  assert.equal(
    sales.reduce((sum: number, sale: { total: string }) => sum + cents(sale.total), 0),
    0,
  )
  const lines = (await own.get(`/orders/${id}`)).json.data.lines
  assert.deepEqual(
    lines.map((line: { status: string }) => line.status),
    ['returned', 'returned'],
  )
})

test('the same SKU in several lines of one body is added up', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 3 }])
  const line = (quantity: number, reasonCode = 'SIZE') => ({ sku: 'TEE', quantity, reasonCode })
  const answer = await post(api, `/orders/${id}/returns`, { lines: [line(2), line(2)] })
  isProblem(answer, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(faultsIn(answer), ['/lines/1/quantity quantity_exceeds_returnable'])
  assert.deepEqual(details(answer), ['Of TEE 3 can be returned, not 4.'])
  const { lines } = made(await post(api, `/orders/${id}/returns`, { lines: [line(2), line(1, 'FAULTY')] }))
  assert.deepEqual(
    lines.map((each: { quantity: number; reasonCode: string }) => [each.quantity, each.reasonCode]),
    [
      [2, 'SIZE'],
      [1, 'FAULTY'],
    ],
  )
})

test('a double click without a key is judged by what is left', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 3 }])
  onlyMade([await giveBack(api, id, { TEE: 2 }), await giveBack(api, id, { TEE: 2 })], 1)
})

test('a return that is repeated with its key is made once, also when all repeats come at once', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 5 }])
  const key = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 6 }, () => giveBack(api, id, { TEE: 1 }, {}, key)))
  for (const answer of answers)
    assert.ok(answer.status === 201 || answer.json.code === 'idempotency_in_progress', answer.text)
  const again = await giveBack(api, id, { TEE: 1 }, {}, key)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal((await api.get(`/orders/${id}/returns`)).json.data.length, 1)
  assert.deepEqual(await returnable(api, id), [{ sku: 'TEE', sold: 5, returned: 1, returnable: 4 }])
  isProblem(await giveBack(api, id, { TEE: 2 }, {}, key), 'idempotency_key_reused', api.baseUrl)
})

test('an order that there is not and one of another service are one and the same answer, whatever the return says', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  const other = await shop()
  for (const units of [{ TEE: 1 }, { NONE: 1 }]) {
    const answers = [await giveBack(other, id, units), await giveBack(other, 'none', units)]
    for (const answer of answers) isProblem(answer, 'not_found', api.baseUrl)
    assert.deepEqual(new Set(answers.map(answer => answer.json.detail)), new Set(['There is no such order.']))
  }
  const { id: returnId } = made(await giveBack(api, id, { TEE: 1 }))
  isProblem(await other.get(`/returns/${returnId}`), 'not_found', api.baseUrl, `/returns/${returnId}`)
})

test('return numbers are counted and unique in a service; given ones race for one', async () => {
  const own = await shop()
  const { id } = await placed(own, [{ sku: 'TEE', quantity: 20 }])
  const { id: second } = await placed(own, [{ sku: 'TEE', quantity: 20 }])
  assert.equal(made(await giveBack(own, id, { TEE: 1 })).returnNumber, 'R0000001')
  made(await giveBack(own, id, { TEE: 1 }, { returnNumber: 'R0000002' }))
  assert.equal(made(await giveBack(own, id, { TEE: 1 })).returnNumber, 'R0000003')
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => giveBack(own, i % 2 ? id : second, { TEE: 1 }, { returnNumber: 'SAME' })),
  )
  assert.equal(answers.filter(answer => answer.status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    assert.deepEqual(faultsIn(answer), ['/returnNumber order_number_taken'])
    assert.deepEqual(details(answer), ['There is a return SAME already.'])
  }
  const other = await shop()
  const { id: theirs } = await placed(other, [{ sku: 'TEE', quantity: 1 }])
  made(await giveBack(other, theirs, { TEE: 1 }, { returnNumber: 'SAME' }))
})

test('what breaks the shape is 400, what breaks a rule is 422, each with its place', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  const line = (more: object) => ({ lines: [{ sku: 'TEE', quantity: 1, reasonCode: 'SIZE', ...more }] })
  for (const [body, status, expected] of [
    [line({ quantity: 0 }), 422, '/lines/0/quantity invalid_field'],
    [line({ quantity: -1 }), 422, '/lines/0/quantity invalid_field'],
    [line({ quantity: 1.5 }), 400, '/lines/0/quantity invalid_body'],
    [line({ quantity: '1' }), 400, '/lines/0/quantity invalid_body'],
    [line({ reasonCode: undefined }), 400, '/lines/0/reasonCode invalid_body'],
    [line({ value: '1.00' }), 400, '/lines/0/value invalid_body'],
    [line({ notes: 'a\u0000b' }), 422, '/lines/0/notes invalid_field'],
    [{ lines: [] }, 422, '/lines invalid_field'],
    [{ ...line({}), restock: 'yes' }, 400, '/restock invalid_body'],
  ] as const) {
    const answer = await post(api, `/orders/${id}/returns`, body)
    assert.equal(answer.status, status, answer.text)
    assert.deepEqual(faultsIn(answer), [expected])
  }
  assert.equal((await giveBack(api, id, { TEE: 2 ** 53 })).json.code, 'malformed_json')
  assert.deepEqual(await returnable(api, id), [{ sku: 'TEE', sold: 1, returned: 0, returnable: 1 }])
})

test('a return needs the role of a maintainer', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  const answer = await giveBack(await api.account('visitor'), id, { TEE: 1 })
  isProblem(answer, 'insufficient_role', api.baseUrl, `/orders/${id}/returns`)
})

test('goods go back to the stock of the store they came from, unless they cannot be sold again', async () => {
  const own = await shop()
  const before = await stockOf(own)
  const { id } = await placed(
    own,
    [
      { sku: 'HOOD-S', quantity: 4 },
      { sku: 'UNKEPT', quantity: 1 },
    ],
    { pickupStoreNumber: '101' },
  )
  assert.equal((await stockOf(own))['1001 HOOD-S'], 6)
  made(await giveBack(own, id, { 'HOOD-S': 1 }, { restock: false }))
  assert.equal((await stockOf(own))['1001 HOOD-S'], 6)
  made(await giveBack(own, id, { 'HOOD-S': 3, UNKEPT: 1 }))
  assert.deepEqual(await stockOf(own), { ...before, '1001 HOOD-S': 9 })
})

test('a return is in the retail history with negative quantity and value', async () => {
  const own = await shop()
  const { id, orderNumber } = await placed(own, [
    { sku: 'HOOD-S', quantity: 2, discounts: [{ type: 'loyalty', amount: '4.00' }] },
  ])
  const { id: returnId, returnNumber } = made(await giveBack(own, id, { 'HOOD-S': 1 }))
  const { lines, saleDate, updateTimeStamp, ...sale } = (await salesOf(own, orderNumber)).find(
    (each: { number: string }) => each.number === returnNumber,
  )
  assert.equal(saleDate, updateTimeStamp)
  assert.deepEqual(sale, {
    id: `return-${returnId}`,
    number: returnNumber,
    orderNumber,
    channel: 'web',
    type: 'sale',
    customerId: '65432',
    storeNumber: '102',
    storeName: 'Warehouse',
    currency: 'AUD',
    total: '-27.99',
  })
  assert.deepEqual(
    lines.map((line: Record<string, unknown>) => [line.sku, line.quantity, line.price, line.value]),
    [['HOOD-S', -1, '29.99', '-27.99']],
  )
})

test('what was not shipped cannot be returned', async () => {
  const own = await shop({ shipOrders: 'manually' })
  const { id } = await placed(own, [{ sku: 'TEE', quantity: 2 }])
  assert.deepEqual(await returnable(own, id), [{ sku: 'TEE', sold: 0, returned: 0, returnable: 0 }])
  const answer = await giveBack(own, id, { TEE: 1 })
  isProblem(answer, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(details(answer), ['Of TEE 0 can be returned, since it has not been shipped, not 1.'])
})

test('a return takes back what its goods have earned, and gives it again where it is cancelled', async () => {
  const own = await shop()
  await joinRewards(api, own)
  const points = async () => (await own.get('/customers/65432/rewards')).json.data.availablePoints
  const { id } = await placed(own, [{ sku: 'TEE', quantity: 3 }])
  assert.equal(await points(), 30)
  const { returnNumber } = made(await giveBack(own, id, { TEE: 2 }))
  assert.equal(await points(), 10)
  await step(own, returnNumber, 'cancel')
  assert.equal(await points(), 30)
})

test('a cancelled return can be returned anew: units, stock, refund and history are as if it had not been', async () => {
  const own = await shop()
  const { id, orderNumber } = await placed(own, [
    { sku: 'TEE', quantity: 3, discounts: [{ type: 'staff', amount: '0.01' }] },
  ])
  const stock = await stockOf(own)
  const first = made(await giveBack(own, id, { TEE: 1 }))
  const second = made(await giveBack(own, id, { TEE: 2 }))
  assert.equal((await own.get(`/orders/${id}`)).json.data.lines[0].status, 'returned')
  await step(own, first.returnNumber, 'cancel')
  const { status, updateTimeStamp, ...rest } = (await own.get(`/returns/${first.id}`)).json.data
  assert.equal(status, 'cancelled')
  assert.ok(updateTimeStamp >= first.updateTimeStamp)
  assert.deepEqual({ ...rest, status: 'requested', updateTimeStamp: first.updateTimeStamp }, first)
  assert.deepEqual(await returnable(own, id), [{ sku: 'TEE', sold: 3, returned: 2, returnable: 1 }])
  assert.equal((await own.get(`/orders/${id}`)).json.data.lines[0].status, 'shipped')
  assert.equal((await stockOf(own))['1002 TEE'], (stock['1002 TEE'] ?? 0) + 2)
  const third = made(await giveBack(own, id, { TEE: 1 }))
  assert.equal(cents(second.total) + cents(third.total), 2999)
  const sales = await salesOf(own, orderNumber)
  assert.equal(sales.length, 5)
  assert.equal(
    sales.reduce((sum: number, sale: { total: string }) => sum + cents(sale.total), 0),
    0,
  )
})

test('the database itself refuses a line that is returned beyond what was sold, and more refunded than was paid', async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 2 }])
  const { service } = api
  for (const [change, constraint] of [
    [sql`returned = 3`, /order_line_returned/],
    [sql`returned = -1`, /order_line_returned/],
    [sql`refunded = 20.01`, /order_line_refunded/],
    [sql`status = 'returned'`, /order_line_sold/],
    [sql`status = 'cancelled', returned = 1`, /order_line_sold/],
  ] as const)
    await assert.rejects(
      api.db.run(sql`update order_line set ${change} where service_id = ${service.id} and order_id = ${id}`),
      constraint,
    )
})

test('over any sequence of returns and cancellations, what is returned and what can be adds up to what was sold', async () => {
  const own = await shop()
  const sku = fc.constantFrom('TEE', 'HOOD-S', 'HOOD-M')
  const line = fc.record({ sku, quantity: fc.integer({ min: 1, max: 4 }) })
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ give: fc.array(line, { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ cancel: fc.nat(10) }) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.array(action, { minLength: 1, maxLength: 8 }),
      async (bought, actions) => {
        const before = await stockOf(own)
        const order = made(await post(own, '/orders', orderOf(bought)))
        const sold = new Map<string, number>()
        for (const each of bought) sold.set(each.sku, (sold.get(each.sku) ?? 0) + each.quantity)
        const open: { returnNumber: string; total: string; units: Map<string, number> }[] = []
        const returned = (of: string) => open.reduce((sum, each) => sum + (each.units.get(of) ?? 0), 0)
        for (const each of actions) {
          if ('cancel' in each) {
            const [cancelled] = open.splice(each.cancel % (open.length || 1), 1)
            if (cancelled) await step(own, cancelled.returnNumber, 'cancel')
          } else {
            const units = new Map<string, number>()
            for (const { sku, quantity } of each.give) units.set(sku, (units.get(sku) ?? 0) + quantity)
            const lines = each.give.map(one => ({ ...one, reasonCode: 'SIZE' }))
            const { status, json } = await post(own, `/orders/${order.id}/returns`, { lines })
            const unknown = [...units.keys()].some(of => !sold.has(of))
            const tooMany = [...units].some(([of, count]) => returned(of) + count > (sold.get(of) ?? 0))
            assert.equal(status, unknown ? 422 : tooMany ? 409 : 201)
            if (status === 201) open.push({ ...json.data, units })
          }
          const left = await returnable(own, order.id)
          assert.deepEqual(
            left,
            [...sold].map(([of, count]) => ({
              sku: of,
              sold: count,
              returned: returned(of),
              returnable: count - returned(of),
            })),
          )
        }
        // The rest comes back as well: all that was paid is refunded, and all stock is there again.
        for (const [of, count] of sold) {
          const units = new Map([[of, count - returned(of)]])
          if (units.get(of)) open.push({ ...made(await giveBack(own, order.id, Object.fromEntries(units))), units })
        }
        assert.equal(
          open.reduce((sum, each) => sum + cents(each.total), 0),
          cents(order.total),
        )
        assert.deepEqual(await stockOf(own), before)
      },
    ),
    { numRuns: 25 },
  )
})
