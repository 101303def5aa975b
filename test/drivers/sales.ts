import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { endReservations } from '../../src/jobs/end-reservations.ts'
import { address, toCents, toDollars } from '../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../support/problem.ts'
import type { TestResponse } from '../support/service.ts'
import { post } from '../support/write.ts'
import { settings } from './apparel21.ts'
import { type Shop, usableNumbers, usablePin } from './shop.ts'
import { getValidationId, lockVoucher } from './vouchers.ts'

interface Item {
  sku: string
  price: string
}

/** Returns items and the ID of a customer that can buy them. */
export async function findItemsAndCustomer({
  api,
  simulator,
}: Shop): Promise<{ items: [Item, Item]; customerId: string }> {
  const ids = [...simulator.state.styles.values()].filter(({ special }) => !special).map(({ id }) => id)
  const { data } = (await api.get(`/products/${ids[0]}`)).json
  const sizes = data.colours.flatMap((colour: { sizes: object[] }) => colour.sizes)
  const items = sizes.map(({ ecommerceSku, price }: { ecommerceSku: string; price: string }) => ({
    sku: ecommerceSku,
    price,
  }))
  assert.ok(items.length >= 2)
  const buyer = [...simulator.state.persons.values()].find(({ email }) => email !== '')
  return { items: [items[0], items[1]], customerId: String(buyer?.id) }
}

const calculateTotal = (lines: { price: string; quantity: number }[]) =>
  toDollars(lines.reduce((sum, { price, quantity }) => sum + toCents(price) * quantity, 0))

/** Posts an order of `quantity` units of the first item, paid in full. Returns the response. */
export async function postOrder(shop: Shop, quantity: number, more: object = {}, headers = {}): Promise<TestResponse> {
  const { items, customerId } = await findItemsAndCustomer(shop)
  const [item] = items
  const order = {
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: item.sku, quantity }],
    payments: [{ gateway: 'paypal', amount: calculateTotal([{ ...item, quantity }]), reference: 'PAYID-1' }],
    ...more,
  }
  return post(shop.api, '/orders', order, headers)
}

/** Posts an order like `postOrder`, asserts that it is created, and returns it. */
export async function placeOrder(shop: Shop, quantity: number, more: object = {}) {
  const response = await postOrder(shop, quantity, more)
  assert.equal(response.status, 201, response.text)
  return response.json.data
}

/** Contract of orders, the same for every driver. */
export function addSaleContract(shop: () => Shop) {
  test('an order with taxes on top is placed or rejected by capability', async () => {
    const { api } = shop()
    const { capabilities } = (await api.get('/capabilities')).json.data
    const taxes = capabilities.find(({ name }: { name: string }) => name === 'orderTaxes')
    const { items } = await findItemsAndCustomer(shop())
    const amount = toDollars(toCents(items[0].price) + 83)
    const payments = [{ gateway: 'paypal', amount, reference: 'PAYID-1' }]
    const response = await postOrder(shop(), 1, { taxLines: [{ name: 'Tax', amount: '0.83' }], payments })
    if (taxes.available) assert.deepEqual([response.status, response.json.data.total], [201, amount])
    else {
      assertProblem(response, 'capability_unavailable', api.baseUrl, '/orders')
      assert.deepEqual(response.json.errors, [
        { pointer: '/taxLines', code: 'capability_unavailable', detail: taxes.reason },
      ])
    }
  })

  test('an order is calculated, placed and found again', async () => {
    const { api } = shop()
    const { items, customerId } = await findItemsAndCustomer(shop())
    const orderNumber = `C-${shop().release}-1`
    const data = await placeOrder(shop(), 2, { orderNumber })
    assert.deepEqual([data.orderNumber, data.customerId, data.currency], [orderNumber, customerId, 'AUD'])
    const [line] = data.lines
    assert.deepEqual([line.sku, line.quantity, line.price], [items[0].sku, 2, items[0].price])
    assert.equal(line.value, calculateTotal([{ ...items[0], quantity: 2 }]))
    assert.deepEqual((await api.get(`/orders/${data.id}`)).json.data.orderNumber, orderNumber)
    const orders = (await api.get(`/customers/${customerId}/orders`)).json.data
    assert.ok(orders.some(({ id }: { id: string }) => id === data.id))
    const again = await postOrder(shop(), 1, { orderNumber })
    assertProblem(again, 'order_number_taken', api.baseUrl, '/orders')
    assert.deepEqual(getFieldErrors(again), ['/orderNumber order_number_taken'])
  })

  test('an order without a number gets one, and repeats return it', async () => {
    const { api } = shop()
    const { items, customerId } = await findItemsAndCustomer(shop())
    const body = {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: items.map(({ sku }) => ({ sku, quantity: 1 })),
      payments: [{ gateway: 'visa', amount: calculateTotal(items.map(item => ({ ...item, quantity: 1 }))) }],
    }
    const key = { 'idempotency-key': `order-${shop().release}-${shop().driver}` }
    const responses = await Promise.all(Array.from({ length: 4 }, () => post(api, '/orders', body, key)))
    const ids = new Set(responses.filter(({ status }) => status === 201).map(({ json }) => json.data.id))
    assert.equal(ids.size, 1)
    for (const response of responses)
      if (response.status !== 201) assertProblem(response, 'idempotency_in_progress', api.baseUrl)
    const replay = await post(api, '/orders', body, key)
    assert.equal(replay.headers['idempotent-replayed'], 'true')
    assert.ok(ids.has(replay.json.data.id))
    assert.match(replay.json.data.orderNumber, /^\w{1,30}$/)
  })

  test('an invalid order is rejected with all errors', async () => {
    const { api } = shop()
    const { items, customerId } = await findItemsAndCustomer(shop())
    const response = await post(api, '/orders', {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: [
        { sku: 'NOTHING', quantity: 1 },
        { sku: items[0].sku, quantity: 1, price: '0.01' },
      ],
      payments: [{ gateway: 'cash', amount: '1.00' }],
    })
    assert.equal(response.status, 422)
    const errors = getFieldErrors(response)
    for (const expected of ['/lines/0/sku unknown_sku', '/payments/0/gateway unknown_gateway'])
      assert.ok(errors.includes(expected), errors.join())
    const short = await postOrder(shop(), 1, { payments: [{ gateway: 'paypal', amount: '0.01' }] })
    assertProblem(short, 'payment_total_mismatch', api.baseUrl, '/orders')
    assert.equal((await postOrder(shop(), 1, { customerId: '999999' })).status, 422)
    assertProblem(await api.get('/orders/nothing'), 'not_found', api.baseUrl)
  })

  test('a gift card cannot be sold as a product', async () => {
    const { items } = await findItemsAndCustomer(shop())
    const lines = [
      { sku: items[0].sku, quantity: 1 },
      { sku: settings.giftCardSku, quantity: 1 },
    ]
    const response = await postOrder(shop(), 1, { lines })
    assert.equal(response.status, 422)
    assert.ok(getFieldErrors(response).includes('/lines/1/sku invalid_field'), response.text)
    assert.match(response.text, /POST \/vouchers/)
  })

  test('an order uses up its reservation', async () => {
    const { api } = shop()
    const { items } = await findItemsAndCustomer(shop())
    const [{ sku }] = items
    const total = async (name: 'reserved' | 'freeStock') =>
      (await api.get(`/inventory?sku=${encodeURIComponent(sku)}`)).json.data.reduce(
        (sum: number, level: Record<string, number>) => sum + (level[name] ?? 0),
        0,
      )
    const before = await total('freeStock')
    const created = await post(api, '/reservations', { lines: [{ sku, quantity: 1 }] })
    assert.equal(created.status, 201, created.text)
    const { id: reservationId } = created.json.data
    assert.equal(await total('reserved'), 1)
    await placeOrder(shop(), 1, { reservationId })
    assert.deepEqual([await total('reserved'), await total('freeStock')], [0, before - 1])
    const again = await postOrder(shop(), 1, { reservationId })
    assertProblem(again, 'reservation_expired', api.baseUrl, '/orders')
    assert.deepEqual(getFieldErrors(again), ['/reservationId reservation_expired'])
    const { data } = (await post(api, '/reservations', { lines: [{ sku, quantity: 1 }] })).json
    await api.db.run(sql`update stock_reservation set expires_at = now() where id = ${data.id}`)
    await endReservations(api.db, api.service.id)
    assert.equal(await total('reserved'), 0)
  })

  test('a paying voucher is drawn once with the order', async () => {
    const { api } = shop()
    const { items } = await findItemsAndCustomer(shop())
    const [number] = usableNumbers.slice(4)
    assert.ok(number)
    const amount = '10.00'
    const validationId = await getValidationId(api, number, amount)
    assert.equal((await lockVoucher(api, number, validationId)).status, 200)
    const remainder = toDollars(toCents(items[0].price) - toCents(amount))
    const payments = [
      { gateway: 'paypal', amount: remainder },
      { gateway: 'paypal', amount, voucher: { number, validationId } },
    ]
    const wrong = await postOrder(shop(), 1, {
      payments: [payments[0], { ...payments[1], voucher: { number, validationId: 'x' } }],
    })
    assertProblem(wrong, 'validation_id_incorrect', api.baseUrl, '/orders')
    const lookUp = async () => (await post(api, '/vouchers/lookup', { number, pin: usablePin })).json.data
    assert.deepEqual([(await lookUp()).usedAmount, (await lookUp()).status], ['0.00', 'locked'])
    await placeOrder(shop(), 1, { payments })
    const { usedAmount, availableAmount, status } = await lookUp()
    assert.deepEqual([usedAmount, availableAmount, status], ['10.00', '90.00', 'active'])
    const again = await postOrder(shop(), 1, { payments })
    assertProblem(again, 'validation_id_incorrect', api.baseUrl, '/orders')
    assert.deepEqual(getFieldErrors(again), ['/payments/1/voucher validation_id_incorrect'])
    assert.equal((await lookUp()).usedAmount, '10.00')
  })

  test('the return reasons come from the service', async () => {
    const { data } = (await shop().api.get('/return-reasons')).json
    assert.deepEqual(
      data.map(({ code }: { code: string }) => code),
      ['SIZE', 'FAULTY'],
    )
  })
}
