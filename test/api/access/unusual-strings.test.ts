import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { newEmail } from '../../support/customer-bodies.ts'
import { buildOrder, buildReturn, placeOrder } from '../../support/order-shop.ts'
import { captureLog } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { clearFailures, gift, pin, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { callOperation, findStringFields, listOperations } from './documented.ts'
import { createNamedShop, findRecordId } from './named-shop.ts'

// Tests every string field of every operation with a body in the OpenAPI document, so new fields are tested automatically.

const captured = captureLog('error')
const api = await startTestApi({
  settings: voucherSettings,
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
  log: captured.log,
})
after(() => api.stop())
const { shop, names } = await createNamedShop(api)
await stockGiftCards(api, shop)
await upsertStock(api.db, shop.service, [{ storeId: '1001', skuId: 'id-HOOD-S', freeStock: 10_000 }])
names.order = (await placeOrder(shop, [{ sku: 'HOOD-S', quantity: 500 }])).id

const operations = listOperations((await api.sendRaw('/openapi.json')).json)
  .filter(({ body }) => Object.keys(findStringFields(body)).length)
  // Settings come last, because they change all later responses.
  .sort((a, b) => Number(a.id === 'updateSettings') - Number(b.id === 'updateSettings'))

let created = 0
/** Functions that build valid bodies for new records. Operations without a function use the documented example. */
const bodies: Record<string, (example: object) => object> = {
  createCustomer: example => Object.assign({}, example, { contact: { email: newEmail() }, references: {} }),
  updateCustomer: example => Object.assign({}, example, { contact: { email: newEmail() }, references: {} }),
  placeOrder: example => {
    const { billingAddress } = example as { billingAddress: object }
    const more = { billingAddress, deliveryAddress: billingAddress, orderNumber: `W-${++created}` }
    const line = { sku: 'HOOD-S', quantity: 1 }
    return buildOrder([line], Object.assign(more, { pickupStoreNumber: undefined }))
  },
  createReturn: example => {
    const { lines } = example as { lines: [object] }
    const line = Object.assign({}, lines[0], { sku: 'HOOD-S' })
    return Object.assign(buildReturn({}), { returnNumber: `R-${++created}`, lines: [line] })
  },
  issueVoucher: example => Object.assign({}, example, gift, { orderNumber: `V-${++created}`, deliveryDate: undefined }),
  lookUpVoucher: () => ({ number: names.voucher, pin }),
  validateVoucher: () => ({ number: names.voucher, pin, amount: '1.00' }),
  createWebhook: example => Object.assign({}, example, { url: `https://127.0.0.1:1099/${++created}` }),
  updateWebhook: example => Object.assign({}, example, { url: `https://127.0.0.1:1099/${++created}` }),
  createAccount: example => Object.assign({}, example, { username: `somebody-${++created}` }),
  // A subscription mapping needs its reference values, and a new currency needs a confirmation.
  updateSettings: example => Object.assign({}, example, { subscriptionMapping: {}, confirmCurrencyChange: true }),
}

/** Strings that are stored unchanged or rejected with a message. Most have a prefix by which responses are searched. */
const prefix = 'Zo\u00eb '
const unusualStrings = [
  `${prefix}\u{1f469}\u200d\u{1f467} \u212b e\u0301 \u0645\u062d\u0645\u062f \u05e9\u05e8\u05d4`,
  `${prefix}Robert'); drop table customer; -- "' or 1=1 $(id) \`id\` | & ;`,
  `${prefix}]]><!ENTITY x "y">&x;&amp;<script>alert(1)</script> $\u007b7*7} {{7*7}} <%= 7 %>`,
  `${prefix}=cmd|/c calc!A1 \\n \\u0000 %00 %s ../../etc/passwd`,
  `${prefix}{"a":1} "quoted" \\"twice\\" __proto__ constructor null`,
  `${prefix}${'x'.repeat(20_000)}`,
  '=1+1',
  '',
  ' ',
  '-0',
  '1e400',
]
/** Strings that every field rejects: PostgreSQL can't store them, or UTF-8 can't encode them. */
const invalidStrings = ['a\u0000b', '\ud800', 'a\udfff']

test('unusual strings are stored unchanged or rejected, and never cause a 500', async () => {
  const accepted = new Set<string>()
  let requestCount = 0
  for (const operation of operations) {
    await clearFailures(api)
    const identifier = findRecordId(operation.path, names)
    const more = identifier === undefined ? {} : { identifier }
    const buildBody = () => (bodies[operation.id] ?? (example => example))(operation.body as object)
    if ((await callOperation(shop, operation, { ...more, body: buildBody() })).status < 300) accepted.add(operation.id)
    for (const name of Object.keys(findStringFields(buildBody())))
      for (const text of [...unusualStrings, ...invalidStrings]) {
        const replaceField = findStringFields(buildBody())[name] ?? assert.fail(name)
        const response = await callOperation(shop, operation, { ...more, body: replaceField(text) as object })
        const label = `${operation.id} ${name} ${JSON.stringify(text.slice(0, 80))}: ${response.status} ${response.text.slice(0, 300)}`
        requestCount++
        assert.ok(response.status < 500, label)
        if (invalidStrings.includes(text)) assert.ok(response.status >= 400, label)
        if (response.status >= 400) assert.match(response.json.code, /^[a-z_]+$/, label)
        else if (response.text.includes(prefix))
          assert.ok(response.text.includes(JSON.stringify(text).slice(1, -1)), label)
      }
  }
  assert.equal(captured.text, '')
  assert.ok(requestCount > 500, `${requestCount}`)
  const expected = ['createCustomer', 'updateCustomer', 'placeOrder', 'createReturn', 'issueVoucher', 'validateVoucher']
  assert.deepEqual(
    [...expected, 'createWebhook', 'mapStore', 'mapSku', 'updateSettings'].filter(id => !accepted.has(id)),
    [],
  )
})
