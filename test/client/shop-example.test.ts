import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { address, fillShop } from '../support/order-shop.ts'
import { checkout, createDirectory, startCommand, waitUntil } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'
import { addVouchers, pin, voucherSettings } from '../support/voucher-shop.ts'
import { toApiKey } from './shop.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'maintainer' })
after(() => api.stop())
await fillShop(api.db, api.service)
await upsertGateways(api.db, api.service, [{ name: 'card' }, { name: 'gift-card' }])
await addVouchers(api, api, { '2062389': {}, '2062390': {} })

const secret = `whsec_${Buffer.from('a secret of this test').toString('base64')}`
const caFile = join(createDirectory(), 'ca.pem')
writeFileSync(caFile, api.ca)
const running = startCommand(
  [],
  {
    TILLBRIDGE_URL: api.baseUrl,
    TILLBRIDGE_API_KEY: toApiKey(api),
    TILLBRIDGE_SERVICE: api.service.name,
    NODE_EXTRA_CA_CERTS: caFile,
    WEBHOOK_SECRET: secret,
    PORT: '0',
  },
  { program: [process.execPath, join(checkout, 'client/examples/shop/start.ts')] },
)
await waitUntil(() => running.out.includes('http://'), 'the shop listens')
const url = /http:\S+/.exec(running.out)?.[0]

async function sendRequest(path: string, body?: object | string, headers: Record<string, string> = {}) {
  const sent = typeof body === 'object' ? JSON.stringify(body) : body
  const response = await fetch(url + path, sent === undefined ? {} : { method: 'POST', headers, body: sent })
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  return { status: response.status, json: (await response.json()) as any }
}

const buildBasket = (basket: string, overrides: object) => ({
  basket,
  customerId: '65432',
  address,
  lines: [{ sku: 'HOOD-S', quantity: 2, price: '29.99' }],
  ...overrides,
})
const getBalance = async (number: string) =>
  (await api.get(`/vouchers/${number}`, { 'x-voucher-pin': pin })).json.data.availableAmount

test('the shop shows all stock and refreshes it after a webhook', async () => {
  assert.deepEqual(await sendRequest('/stock/HOOD-M'), { status: 200, json: { sku: 'HOOD-M', units: 4 } })
  await upsertStock(api.db, api.service, [{ storeId: '1002', skuId: 'id-HOOD-M', freeStock: 3 }])
  assert.equal((await sendRequest('/stock/HOOD-M')).json.units, 4)
  const [id, at] = ['msg_1', new Date()]
  const delivery = JSON.stringify({ type: 'records.changed', data: { changes: [{ kind: 'inventory' }] } })
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, delivery),
  }
  assert.equal((await sendRequest('/hooks', delivery, { ...headers, 'webhook-id': 'msg_2' })).status, 400)
  assert.equal((await sendRequest('/stock/HOOD-M')).json.units, 4)
  assert.equal((await sendRequest('/hooks', delivery, headers)).status, 200)
  assert.equal((await sendRequest('/stock/HOOD-M')).json.units, 7)
})

test('a voucher pays its balance, a card the rest, and repeats match', async () => {
  const order = buildBasket('1', { voucher: { number: '2062389', pin } })
  const first = await sendRequest('/checkout', order)
  assert.deepEqual([first.status, first.json.total], [201, '59.98'])
  assert.equal(await getBalance('2062389'), '90.02')
  assert.deepEqual(await sendRequest('/checkout', order), first)
  const largerOrder = buildBasket('2', {
    voucher: { number: '2062389', pin },
    lines: [{ sku: 'HOOD-S', quantity: 4, price: '29.99' }],
  })
  const second = await sendRequest('/checkout', largerOrder)
  assert.equal(second.status, 201)
  const { payments } = (await api.get(`/orders/${second.json.orderNumber}`)).json.data
  assert.deepEqual(
    payments.map(({ gateway, amount }: { gateway: string; amount: string }) => [gateway, amount]),
    [
      ['gift-card', '90.02'],
      ['card', '29.94'],
    ],
  )
  assert.equal(await getBalance('2062389'), '0.00')
})

test('a wrong PIN is shown, and a rejected checkout releases the voucher', async () => {
  const wrong = await sendRequest('/checkout', buildBasket('3', { voucher: { number: '2062390', pin: '000000' } }))
  assert.deepEqual(wrong, { status: 403, json: { error: 'The voucher number or PIN is wrong.' } })
  const lines = [{ sku: 'NONE', quantity: 1, price: '5.00' }]
  assert.equal(
    (await sendRequest('/checkout', buildBasket('4', { lines, voucher: { number: '2062390', pin } }))).status,
    422,
  )
  const { status, lockedUntil } = (await api.get('/vouchers/2062390', { 'x-voucher-pin': pin })).json.data
  assert.deepEqual([status, lockedUntil], ['active', null])
})
