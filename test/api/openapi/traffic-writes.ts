import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { insertVouchers } from '../../../src/store/vouchers/vouchers.ts'
import { addShipment } from '../../support/order-shop.ts'
import { holdLocks, waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { waitUntil } from '../../support/processes.ts'
import type { Caller } from '../../support/service.ts'
import type { Traffic } from './traffic.ts'

let customerCount = 0
const buildCustomer = () => ({
  firstname: 'Ann',
  surname: 'Lee',
  contact: { email: `traffic${++customerCount}@example.com` },
})
const address = { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' }

/** Tests every possible response to the writes of the API. */
export function testWrites(traffic: () => Traffic) {
  test('customer writes match the document', async () => {
    const { api, get, post, put, assertRejected } = traffic()
    const body = {
      ...buildCustomer(),
      title: null,
      dateOfBirth: '1980-02-29',
      mobile: '+61 400 123 456',
      emailSubscription: true,
      privacy: true,
      address: { ...address, addressLine2: null },
    }
    const created = await post('/customers', body, { 'idempotency-key': 'traffic' })
    assert.equal(created.status, 201)
    assert.ok(created.json.meta.warnings.length)
    const again = await post('/customers', body, { 'idempotency-key': 'traffic' })
    assert.equal(again.headers['idempotent-replayed'], 'true')
    const path = `/customers/${created.json.data.id}`
    assert.equal((await put(path, { surname: 'Leigh', contact: { phones: null } })).status, 200)
    assert.equal((await get(path)).json.data.surname, 'Leigh')

    const visitor = await api.createAccount('visitor')
    await assertRejected('malformed_json', post('/customers', '{"bad'))
    await assertRejected('invalid_body', post('/customers', { ...buildCustomer(), colour: 'red' }))
    await assertRejected('invalid_field', post('/customers', { ...buildCustomer(), dateOfBirth: '2023-02-30' }))
    await assertRejected('invalid_parameter', post('/customers?dry=true', buildCustomer()))
    await assertRejected('unsupported_media_type', post('/customers', buildCustomer(), { 'content-type': 'text/xml' }))
    await assertRejected('body_too_large', post('/customers', JSON.stringify(buildCustomer()).padEnd(300_000)))
    await assertRejected('insufficient_role', post('/customers', buildCustomer(), {}, visitor))
    await assertRejected('email_taken', post('/customers', { ...buildCustomer(), contact: body.contact }))
    await assertRejected('email_taken', put(path, { contact: { email: await findEmail(traffic()) } }))
    await assertRejected('idempotency_key_invalid', post('/customers', buildCustomer(), { 'idempotency-key': '' }))
    await assertRejected(
      'idempotency_key_reused',
      post('/customers', buildCustomer(), { 'idempotency-key': 'traffic' }),
    )
    await assertRejected('not_found', put('/customers/none', { surname: 'Leigh' }))
    await assertRejected('precondition_failed', put(path, { surname: 'Lee' }, { 'if-match': '"stale"' }))
    const strictCaller = await api.createService({ requireIfMatch: true, writesPerMinute: 2 })
    const { id } = (await post('/customers', buildCustomer(), {}, strictCaller)).json.data
    await assertRejected('precondition_required', put(`/customers/${id}`, { surname: 'Leigh' }, {}, strictCaller))
    await assertRejected('rate_limited', put(`/customers/${id}`, { surname: 'Leigh' }, {}, strictCaller))
  })

  test('orders and their returns match the document', async () => {
    const { api, get, post, assertRejected } = traffic()
    const placed = await post('/orders', await buildTrafficOrder(traffic()))
    assert.equal(placed.status, 201, placed.text)
    const { id, orderNumber, customerId, lines } = placed.json.data
    assert.equal((await get(`/orders/${id}`, { 'if-none-match': placed.headers.etag })).status, 304)
    assert.equal((await get(`/orders/${id}`)).json.data.orderNumber, orderNumber)
    assert.equal((await get(`/orders?order_number=${orderNumber}`)).json.data[0].id, id)
    assert.equal((await get(`/customers/${customerId}/orders`)).json.data.length, 1)
    await assertRejected('not_found', get('/orders/none'))
    const order = await buildTrafficOrder(traffic())
    const wrong = { ...order, lines: [{ sku: 'NONE', quantity: 1 }] }
    await assertRejected('unknown_sku', post('/orders', wrong))
    await assertRejected(
      'unknown_gateway',
      post('/orders', { ...order, payments: [{ ...order.payments[0], gateway: 'shells' }] }),
    )
    await assertRejected(
      'payment_total_mismatch',
      post('/orders', { ...order, payments: [{ gateway: 'card', amount: '0.01' }] }),
    )
    await assertRejected('order_number_taken', post('/orders', { ...order, orderNumber }))

    const [reason] = (await get('/return-reasons')).json.data
    assert.ok((await get(`/orders/${id}/returnable`)).json.data.length)
    const createReturn = (sku: string, quantity: number) =>
      post(`/orders/${id}/returns`, { lines: [{ sku, quantity, reasonCode: reason.code }] })
    const returned = await createReturn(lines[0].sku, 1)
    assert.equal(returned.status, 201, returned.text)
    assert.equal((await get(`/orders/${id}/returns`)).json.data.length, 1)
    assert.equal((await get(`/returns/${returned.json.data.id}`)).json.data.lines.length, 1)
    const shipment = await addShipment(api, api, id)
    assert.equal((await get(`/orders/${id}/shipments`)).json.data[0].id, shipment)
    assert.equal((await get(`/shipments/${shipment}`)).json.data.trackingNumber, 'EM1')
    await assertRejected('sku_not_on_order', createReturn('NONE', 1))
    await assertRejected('quantity_exceeds_returnable', createReturn(lines[0].sku, 2))
    await assertRejected(
      'not_found',
      post('/orders/none/returns', { lines: [{ sku: 'NONE', quantity: 1, reasonCode: 'SIZE' }] }),
    )
  })

  test('fulfilment matches the document', async () => {
    const { get, post, put, assertRejected } = traffic()
    assert.equal((await put('/settings', { fulfilment: 'manual' })).status, 200)
    const place = async (more = {}) => {
      const placed = await post('/orders', { ...(await buildTrafficOrder(traffic())), ...more })
      assert.equal(placed.status, 201, placed.text)
      return placed.json.data
    }
    let order = await place()
    // Settings are cached for a few seconds.
    const isManual = async () => {
      if (order.lines[0].status !== 'processing') order = await place()
      return order.lines[0].status === 'processing'
    }
    await waitUntil(isManual, 'orders wait for their shipment')
    const shipped = await post(`/orders/${order.id}/shipments`, { carrier: 'Australia Post', trackingNumber: '33ABC' })
    assert.equal(shipped.status, 201, shipped.text)
    await assertRejected('invalid_transition', post(`/orders/${order.id}/cancel`, {}))
    await assertRejected('invalid_field', post(`/orders/${order.id}/shipments`, { trackingUrl: 'parcel' }))
    const part = { lines: [{ orderLineId: '1', quantity: 9_999 }] }
    await assertRejected('invalid_transition', post(`/orders/${(await place()).id}/shipments`, part))
    const [store] = (await get('/stores?kind=store&limit=1')).json.data
    const { id: pickup } = await place({ pickupStoreNumber: store.storeNumber })
    await assertRejected('invalid_transition', post(`/orders/${pickup}/collected`, {}))
    for (const step of ['ready', 'collected']) assert.equal((await post(`/orders/${pickup}/${step}`, {})).status, 200)
    await assertRejected('invalid_transition', post(`/orders/${pickup}/ready`, {}))
    const cancelled = await post(`/orders/${(await place()).id}/cancel`, {})
    assert.equal(cancelled.status, 200, cancelled.text)

    const [reason] = (await get('/return-reasons')).json.data
    const returning = { lines: [{ sku: order.lines[0].sku, quantity: 1, reasonCode: reason.code }] }
    const created = await post(`/orders/${order.id}/returns`, returning)
    assert.equal(created.status, 201, created.text)
    const path = `/returns/${created.json.data.id}`
    await assertRejected('invalid_transition', post(`${path}/refund`, {}))
    assert.equal((await post(`${path}/receive`, { restock: false })).status, 200)
    const refunded = await post(`${path}/refund`, {})
    assert.equal(refunded.status, 200, refunded.text)
    const sold = (await post(`/orders/${(await place()).id}/shipments`, {})).json.data
    const orderReturn = { lines: [{ sku: sold.lines[0].sku, reasonCode: reason.code }] }
    const exchange = `/orders/${sold.orderId}/exchanges`
    const { customerId } = (await get(`/orders/${sold.orderId}`)).json.data
    const replacement = { ...(await buildTrafficOrder(traffic())), customerId, payments: [] }
    const dearer = { ...replacement, freight: '1.00' }
    await assertRejected('payment_total_mismatch', post(exchange, { orderReturn, order: dearer }))
    const exchanged = await post(exchange, { orderReturn, order: replacement })
    assert.equal(exchanged.status, 201, exchanged.text)
    assert.equal((await put('/settings', { fulfilment: 'automatic' })).status, 200)
  })

  test('quotes and coupons match the document', async t => {
    const { get, post, remove, assertRejected } = traffic()
    const order = await buildTrafficOrder(traffic())
    const lines = order.lines.map(({ sku, quantity }) => ({ sku, quantity }))
    const quoted = await post('/orders/quote', { customerId: order.customerId, lines })
    assert.equal(quoted.status, 200, quoted.text)
    await assertRejected('unknown_sku', post('/orders/quote', { lines: [{ sku: 'none', quantity: 1 }] }))
    await assertRejected('capability_unavailable', post('/orders/quote', { lines, freightOptionId: '1' }))
    assert.deepEqual((await get('/freight-options')).json.data, [])
    const coupon = { code: 'NONE', customerId: order.customerId }
    await assertRejected('capability_unavailable', post('/coupons/validate', coupon))
    await assertRejected('capability_unavailable', post('/coupons/reservations', { ...coupon, lines }))
    await assertRejected('capability_unavailable', remove('/coupons/reservations/none'))
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_801_000 })
    await assertRejected('quote_expired', post('/orders', { ...order, quoteId: quoted.json.data.quoteId }))
    t.mock.timers.reset()
  })

  test('reservations match the document', async () => {
    const { get, post, put, remove, assertRejected } = traffic()
    const order = await buildTrafficOrder(traffic())
    const levels = (await get('/inventory?limit=100')).json.data
    const lines = [{ sku: levels.find(({ sellable }: { sellable: number }) => sellable > 0).sku, quantity: 1 }]
    const created = await post('/reservations', { lines, reference: 'cart-1' })
    assert.equal(created.status, 201, created.text)
    const path = `/reservations/${created.json.data.id}`
    assert.equal((await get(path)).json.data.reference, 'cart-1')
    assert.equal((await put(path, { seconds: 60, lines })).status, 200)
    assert.equal((await remove(path)).status, 200)
    await assertRejected('not_found', get(path))
    await assertRejected('reservation_expired', post('/orders', { ...order, reservationId: created.json.data.id }))
  })

  test('redemptions of rewards match the document', async () => {
    const { api, get, post, assertRejected } = traffic()
    const account = await api.db.row<{ id: string }>(sql`
      select account_id as id from reward_lot where service_id = ${api.service.id} and kind = 'points' and total > redeemed + consumed + pending
         and (expiry_date is null or expiry_date > now() + interval '2 days') limit 1`)
    const path = `/rewards/accounts/${account?.id}/redemptions`
    const [first, second] = [randomUUID(), randomUUID()]
    for (const requestId of [first, second])
      assert.equal((await post(path, { requestId, points: 1 })).status, 201, requestId)
    assert.equal((await get(`${path}/${first}`)).json.data.points, 1)
    assert.equal((await post(`${path}/${first}/confirm`, {})).status, 200)
    assert.equal((await post(`${path}/${second}/cancel`, {})).status, 200)
    await assertRejected('invalid_transition', post(`${path}/${first}/cancel`, {}))
    await assertRejected('idempotency_key_reused', post(path, { requestId: first, points: 2 }))
    await assertRejected('insufficient_rewards', post(path, { requestId: randomUUID(), points: 2_000_000_000 }))
    await assertRejected('not_found', post(`${path}/${randomUUID()}/confirm`, {}))
    await assertRejected('not_found', get(`${path}/${randomUUID()}`))
  })

  test('decisions about gift vouchers match the document', async () => {
    const { api, post, assertRejected } = traffic()
    const card = { pin: '004200', originalAmount: '10.00', usedAmount: '0.00', expiryDate: null } as const
    await insertVouchers(api.db, api.keys, api.service, [
      { ...card, number: '7001', state: 'active' },
      { ...card, number: '7002', state: 'pending' },
    ])
    for (const decision of ['suspend', 'resume', 'unlock'])
      assert.equal((await post(`/vouchers/7001/${decision}`, {})).status, 200, decision)
    await assertRejected('voucher_unusable', post('/vouchers/7002/suspend', {}))
    await assertRejected('not_found', post('/vouchers/1/resume', {}))
    await assertRejected('capability_unavailable', post('/vouchers/7001/resend', {}))
  })

  test('gift vouchers are issued, validated, locked and spent as documented', async () => {
    const { api, get, post, put, assertRejected } = traffic()
    const expected = {
      amount: '150.00',
      gateway: 'card',
      receiverName: 'Ann Lee',
      receiverEmail: 'ann.lee@example.com',
      senderName: 'John Smith',
      message: 'Happy birthday,\nAnn!',
      subject: 'A gift for you',
      billingAddress: address,
    }
    const issued = await post('/vouchers', expected, { 'idempotency-key': 'gift' })
    assert.equal(issued.status, 201, issued.text)
    const { number, pin } = issued.json.data
    assert.equal((await post('/vouchers', expected, { 'idempotency-key': 'gift' })).json.data.pin, pin)
    assert.equal((await post(`/vouchers/${number}/resend`, {})).status, 200)
    await assertRejected('rate_limited', post(`/vouchers/${number}/resend`, { receiverEmail: 'ann@example.com' }))
    await assertRejected('unknown_gateway', post('/vouchers', { ...expected, gateway: 'shells' }))
    await assertRejected(
      'voucher_not_configured',
      post('/vouchers', expected, {}, await api.createService({ currency: 'AUD' })),
    )

    const credentials = { number, pin }
    const validate = (amount: string) => post('/vouchers/validate', { ...credentials, amount })
    assert.equal((await post('/vouchers/lookup', credentials)).status, 200)
    assert.equal((await get(`/vouchers/${number}?amount=10.00`, { 'x-voucher-pin': pin })).status, 200)
    await assertRejected('voucher_not_accepted', post('/vouchers/lookup', { ...credentials, number: '1' }))
    await assertRejected('insufficient_voucher_balance', validate('150.01'))
    const superseded = (await validate('150.00')).json.data.validationId
    let { validationId } = (await validate('150.00')).json.data
    const lock = (body: object) => put(`/vouchers/${number}/lock`, body)
    await assertRejected('validation_id_incorrect', lock({ validationId: 'guess' }))
    const locked = await lock({ validationId, lockSeconds: 60 })
    assert.deepEqual([locked.status, locked.json.data.status], [200, 'locked'])
    await assertRejected('voucher_locked', validate('150.00'))
    await assertRejected('voucher_locked', lock({ validationId: superseded }))
    await lock({ validationId, lockSeconds: 0 })
    const byPin = await post(`/vouchers/${number}/lock`, { pin, amount: '150.00' })
    assert.equal(byPin.status, 200)
    validationId = byPin.json.data.validationId
    assert.equal((await get(`/vouchers/${number}/ledger`)).status, 200)
    await assertRejected('not_found', get('/vouchers/1/ledger'))

    const order = await buildTrafficOrder(traffic(), '150.00')
    const [voucherPart, otherPart] = order.payments
    const spent = { ...order, payments: [{ ...voucherPart, voucher: { number, validationId } }, otherPart] }
    const paid = await post('/orders', spent)
    assert.equal(paid.status, 201, paid.text)
    await assertRejected('voucher_unusable', validate('1.00'))

    const strictVoucherShop = await api.createService({ currency: 'AUD', requireFullRedemption: true })
    const row = { state: 'active', originalAmount: '50.00', usedAmount: '0.00', expiryDate: null } as const
    await insertVouchers(api.db, api.keys, strictVoucherShop.service, [{ number: '50', pin: '123456', ...row }])
    const part = { number: '50', pin: '123456', amount: '20.00' }
    await assertRejected('voucher_must_be_used_in_full', post('/vouchers/validate', part, {}, strictVoucherShop))
  })

  test('conflicts between writes match the document', async () => {
    const { api, post, assertRejected } = traffic()
    const release = await holdLocks(api.db, 'lock table customer in share mode')
    const body = buildCustomer()
    const first = post('/customers', body, { 'idempotency-key': 'busy' })
    try {
      await waitForBlockedConnections(api)
      await assertRejected('idempotency_in_progress', post('/customers', body, { 'idempotency-key': 'busy' }))
    } finally {
      release()
    }
    assert.equal((await first).status, 201)
    const failing = await runAtCommit(api, "raise exception 'others were first' using errcode = '40001'")
    await assertRejected('concurrent_update', post('/customers', buildCustomer()))
    await failing.stop()
    const breaking = await runAtCommit(api, 'perform pg_terminate_backend(pg_backend_pid())')
    await assertRejected('outcome_unknown', post('/customers', buildCustomer()))
    await breaking.stop()
    assert.equal((await post('/customers', buildCustomer())).status, 201)
  })
}

/** Runs a statement in the database when a transaction that inserts a customer commits. Returns a function that stops this. */
async function runAtCommit({ db }: Traffic['api'], statement: string) {
  await db.run(
    sql`create function disturb() returns trigger language plpgsql as ${raw(`$$ begin ${statement}; return null; end $$`)}`,
  )
  await db.run(
    sql`create constraint trigger disturb after insert on customer deferrable initially deferred for each row execute function disturb()`,
  )
  return { stop: () => db.run(sql`drop function disturb cascade`) }
}

async function findEmail({ get }: Traffic) {
  const { data } = (await get('/customers/search?limit=100')).json
  return data.find(({ contact }: { contact: { email: string | null } }) => contact.email !== null).contact.email
}

/** Builds an order of two units of a SKU for a new customer. If `first` is set, it is the amount of a separate payment. */
async function buildTrafficOrder({ api, get, post }: Traffic, first?: string, caller: Caller = api) {
  await upsertGateways(api.db, caller.service, [{ name: 'card' }])
  const { id } = (await post('/customers', buildCustomer(), {}, caller)).json.data
  const products = (await get('/products?limit=100', {}, caller)).json.data
  const sizes = products.flatMap(({ colours }: { colours: { sizes: object[] }[] }) =>
    colours.flatMap(colour => colour.sizes),
  )
  const expensive = sizes.find(({ price }: { price: string }) => Number(price) > 80)
  const dueCents = 2 * Math.round(Number(expensive.price) * 100)
  const firstCents = first === undefined ? 0 : Math.round(Number(first) * 100)
  const payments = [...(firstCents ? [firstCents] : []), dueCents - firstCents].map(cents => ({
    gateway: 'card',
    amount: (cents / 100).toFixed(2),
  }))
  return {
    customerId: id,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: expensive.ecommerceSku, quantity: 2 }],
    payments,
  }
}
