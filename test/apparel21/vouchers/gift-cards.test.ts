import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settings } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { put } from '../../support/write.ts'
import { createVoucherSaleFixture, startVoucherFixture } from './vouchers.ts'

const { simulator, api } = await startVoucherFixture()
const { issue } = createVoucherSaleFixture({ simulator, api })

interface Capability {
  name: string
}

test('an unsuitable gift card SKU and voucher type are reported', async () => {
  const [product] = [...simulator.state.skus.values()].filter(({ colour, price }) => !colour.style.special && price > 0)
  const [shelf] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  assert.ok(product && shelf)
  simulator.change({ kind: 'set-stock', skuId: product.id, storeId: shelf.id, quantity: 3 })
  const giftCardSku = String(product.id)
  const caller = await api.createService({ ...settings, giftCardSku, voucherType: 'GV_NONE' })
  await put(caller, '/settings', { gateways: ['paypal'] })
  const getReason = async () =>
    (await caller.get('/capabilities')).json.data.capabilities.find(({ name }: Capability) => name === 'vouchersIssue')
      .reason
  const rejected = await issue({}, {}, caller)
  assertProblem(rejected, 'voucher_not_configured', api.baseUrl, '/vouchers')
  assert.equal(rejected.json.errors.length, 2)
  for (const text of [JSON.stringify(rejected.json.errors), await getReason()])
    assert.match(text, new RegExp(`\`GV_NONE\`.*\`GV_EMAIL\`.*must name a gift voucher; SKU \`${giftCardSku}\``))
  assert.equal(simulator.ledger.findCalls({ method: 'POST' }).length, 0, 'no person and no sale is created')
  await put(caller, '/settings', { giftCardSku: settings.giftCardSku, voucherType: settings.voucherType })
  await waitUntil(async () => (await getReason()) === undefined, 'the settings are in effect', 10_000)
  assert.equal((await issue({}, {}, caller)).status, 202)
})

test('a checked configuration is not checked again; an undecided one is tried', async () => {
  await issue()
  simulator.ledger.clear()
  assert.equal((await issue({ receiverEmail: 'again@example.com' })).status, 202)
  assert.equal(simulator.ledger.findCalls({ path: '/References/*' }).length, 0)
  const other = await api.createService({ ...settings, voucherType: 'GV_CARD' })
  simulator.faults.add({ kind: 'error', status: 404, code: 5008, path: '/References/368' })
  await put(other, '/settings', { gateways: ['paypal'] })
  assert.equal((await issue({}, {}, other)).status, 202)
})

test('a sale response leads to its order, even if forgotten upstream', async () => {
  for (const [orderNumber, path] of [
    ['W0000123', '/orders/W0000123'],
    ['Shop #10/A & more', '/orders/Shop%20%2310%2FA%20%26%20more'],
    ['#1002', '/orders/%231002'],
  ] as const) {
    const { status, headers } = await issue({ orderNumber })
    assert.equal(status, 202)
    assert.equal(headers.location, path)
    const [order] = simulator.ledger.findEffects('order created').slice(-1)
    simulator.change({ kind: 'forget-order', id: Number(order?.id) })
    const response = await api.get(path)
    assert.equal(response.status, 200, response.text)
    const { id, lines, total } = response.json.data
    assert.deepEqual([response.json.data.orderNumber, id, total], [orderNumber, order?.id, '150.00'])
    assert.deepEqual(
      lines.map(({ sku, status: lineStatus }: { sku: string; status: string }) => [sku, lineStatus]),
      [['9001', 'processing']],
    )
  }
})
