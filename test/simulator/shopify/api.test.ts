import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { Kind, parse, print, validate } from 'graphql'
import { predictCost } from '../../../simulator/shopify/cost.ts'
import { openVersion } from '../../../simulator/shopify/execute.ts'
import { startShopifySimulator } from '../../../simulator/shopify/simulator.ts'
import { computeOnHand } from '../../../simulator/shopify/state.ts'

const simulator = await startShopifySimulator({
  now: '2026-11-02T10:00:00Z',
  size: { locations: 2, variants: 300, customers: 3 },
})
after(() => simulator.close())
let token = ''
beforeEach(async () => {
  simulator.reset()
  token = await getToken()
})

const operations = new Map(
  parse(
    readFileSync(new URL('../../../simulator/shopify/schema/operations.graphql', import.meta.url), 'utf8'),
  ).definitions.flatMap(definition =>
    definition.kind === Kind.OPERATION_DEFINITION && definition.name
      ? [[definition.name.value, print(definition)]]
      : [],
  ),
)
const findOperation = (name: string) => operations.get(name) ?? assert.fail(`operation ${name} not found`)

async function getToken(secret = simulator.settings.clientSecret): Promise<string> {
  const response = await fetch(`${simulator.url}/admin/oauth/access_token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: simulator.settings.clientId,
      client_secret: secret,
    }),
  })
  return ((await response.json()) as { access_token?: string }).access_token ?? ''
}

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the operation
  data: any
  errors?: { message: string; extensions?: { code?: string } }[]
  extensions?: { cost: { requestedQueryCost: number; actualQueryCost: number }; search?: object[] }
}

async function send(query: string, variables: object = {}, { version = '2026-07', bearer = token } = {}) {
  const response = await fetch(`${simulator.url}/admin/api/${version}/graphql.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': bearer },
    body: JSON.stringify({ query, variables }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Result }
}

const getFirstLevel = () => {
  const levels = [...simulator.shop.levels.values()][0]
  return levels?.values().next().value ?? assert.fail('no level')
}
const buildRow = (quantity: number, changeFromQuantity: number | undefined) => ({
  inventoryItemId: `gid://shopify/InventoryItem/${getFirstLevel().itemId}`,
  locationId: `gid://shopify/Location/${getFirstLevel().locationId}`,
  quantity,
  changeFromQuantity,
})
const setOnHand = (quantities: object[], key = 'k1') =>
  send(findOperation('SetQuantities'), { input: { name: 'on_hand', reason: 'correction', quantities }, key })

test('all operations are valid in three versions', () => {
  assert.equal(operations.size, 35)
  for (const version of ['2026-04', '2026-07', '2026-10'])
    for (const [name, text] of operations)
      assert.deepEqual(validate(openVersion(version).schema, parse(text)), [], `${name} in ${version}`)
})

test('the cost of an operation follows the derived rule', () => {
  const { schema } = openVersion('2026-07')
  const costs = {
    Shop: 3,
    Granted: 4,
    Locations: 24,
    Variants: 46,
    Customers: 35,
    Orders: 9,
    SetQuantities: 10,
    Subscriptions: 20,
  }
  for (const [name, cost] of Object.entries(costs))
    assert.equal(predictCost(schema, parse(findOperation(name)), {}), cost, name)
  assert.equal(predictCost(schema, parse(findOperation('Levels')), { ids: Array(37).fill('') }), 888)
  assert.equal(predictCost(schema, parse(findOperation('SalesSince')), { ids: Array(17).fill('') }), 867)
})

test('a token expires, and a wrong secret gets none', async () => {
  assert.equal(await getToken('wrong'), '')
  assert.equal((await send(findOperation('Shop'))).body.data.shop.currencyCode, 'AUD')
  simulator.clock.advance(86_400)
  assert.equal((await send(findOperation('Shop'))).status, 401)
  assert.equal((await send(findOperation('Shop'), {}, { bearer: 'shpat_unknown' })).status, 401)
})

test('a request outside the schema is rejected', async () => {
  const { body } = await send('{ shop { nickname } }')
  assert.match(body.errors?.[0]?.message ?? '', /Cannot query field "nickname" on type "Shop"/)
})

test('an unsupported version is served by the oldest one', async () => {
  const { headers } = await send(findOperation('Shop'), {}, { version: '2024-01' })
  assert.equal(headers.get('x-shopify-api-version'), '2026-04')
})

test('pages list each variant once and reject foreign cursors', async () => {
  const first = (await send(findOperation('Variants'))).body.data.productVariants
  const second = (await send(findOperation('Variants'), { after: first.pageInfo.endCursor })).body.data.productVariants
  const ids = [...first.nodes, ...second.nodes].map(({ id }: { id: string }) => id)
  assert.deepEqual([ids.length, new Set(ids).size, second.pageInfo.hasNextPage], [300, 300, false])
  const foreign = await send(findOperation('Customers'), { after: first.pageInfo.endCursor })
  assert.match(foreign.body.errors?.[0]?.message ?? '', /Invalid cursor/)
})

test('search fails open, and an instant without quotes is cut to midnight', async () => {
  const [variant] = simulator.shop.variants.values()
  assert.ok(variant)
  simulator.clock.advance(3_600)
  simulator.change({ kind: 'variant', id: variant.id, barcode: '1' })
  const search = async (query: string) => (await send(findOperation('Variants'), { query })).body
  assert.equal((await search("updated_at:>='2026-11-02T10:30:00Z'")).data.productVariants.nodes.length, 1)
  assert.equal((await search('updated_at:>=2026-11-02T10:30:00Z')).data.productVariants.nodes.length, 250)
  const unknown = await search('colour:red')
  assert.deepEqual([unknown.data.productVariants.nodes.length, unknown.extensions?.search?.length], [250, 1])
})

test('a missing scope is named', async () => {
  simulator.set({ scopes: ['read_products', 'read_inventory'] })
  const { body } = await send(findOperation('Customers'))
  assert.deepEqual(
    body.errors?.map(({ message, extensions }) => [message, extensions?.code]),
    [['Access denied for customers field. Required access: `read_customers` access scope.', 'ACCESS_DENIED']],
  )
})

test('protected data needs level 2', async () => {
  simulator.set({ protectedDataLevel: 1 })
  const { body } = await send(findOperation('Customers'))
  assert.match(body.errors?.[0]?.message ?? '', /not approved to use the \w+ field/)
})

test('an empty bucket throttles until its points are restored', async () => {
  simulator.clock.freeze()
  simulator.set({ bucketPoints: 100, restorePerSecond: 50 })
  const results = []
  for (let i = 0; i < 4; i++) results.push((await send(findOperation('Variants'))).body.errors?.[0]?.extensions?.code)
  assert.deepEqual(results, [undefined, undefined, 'THROTTLED', 'THROTTLED'])
  simulator.clock.advance(1)
  assert.equal((await send(findOperation('Variants'))).body.errors, undefined)
})

test('a quantity is set by compare-and-set, once per key', async () => {
  const level = getFirstLevel()
  const before = computeOnHand(level)
  assert.deepEqual((await setOnHand([buildRow(7, before)])).body.data.inventorySetQuantities.userErrors, [])
  assert.equal(computeOnHand(level), 7)
  simulator.change({ kind: 'count', itemId: level.itemId, locationId: level.locationId, available: 9 })
  // A repeat of the same call succeeds without effect.
  assert.deepEqual((await setOnHand([buildRow(7, before)])).body.data.inventorySetQuantities.userErrors, [])
  assert.equal(computeOnHand(level), 9)
  const other = (await setOnHand([buildRow(3, before)])).body.data.inventorySetQuantities.userErrors
  assert.equal(other[0].code, 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH')
  const stale = (await setOnHand([buildRow(3, 7)], 'k2')).body.data.inventorySetQuantities.userErrors
  assert.deepEqual([stale[0].code, stale[0].field.at(-1)], ['CHANGE_FROM_QUANTITY_STALE', 'changeFromQuantity'])
  const again = (await setOnHand([buildRow(3, 7)], 'k2')).body.data.inventorySetQuantities.userErrors
  assert.equal(again[0].code, 'IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED')
})

test('a bundle rejects the whole batch and is named by its path', async () => {
  const [, variant] = [...simulator.shop.variants.values()]
  assert.ok(variant)
  simulator.change({ kind: 'variant', id: variant.id, requiresComponents: true })
  const bundle = { ...buildRow(1, 0), inventoryItemId: `gid://shopify/InventoryItem/${variant.itemId}` }
  const before = computeOnHand(getFirstLevel())
  const { userErrors } = (await setOnHand([buildRow(99, before), bundle])).body.data.inventorySetQuantities
  const error = userErrors.find(({ code }: { code: string }) => code === 'NON_MUTABLE_INVENTORY_ITEM')
  assert.deepEqual(error.field, ['input', 'quantities', '1', 'inventoryItemId'])
  assert.equal(computeOnHand(getFirstLevel()), before)
})

test('a request without key or expected quantity is rejected', async () => {
  const input = { name: 'on_hand', reason: 'correction', quantities: [buildRow(1, 0)] }
  const without = findOperation('SetQuantities').replace(' @idempotent(key: $key)', '').replace(', $key: String!', '')
  const noKey = await send(without, { input })
  assert.equal(noKey.body.errors?.[0]?.extensions?.code, 'BAD_REQUEST')
  const noQuantity = await setOnHand([buildRow(1, undefined)])
  assert.equal(noQuantity.body.errors?.[0]?.extensions?.code, 'INVALID_FIELD_ARGUMENTS')
})

test('a sale leaves on-hand unchanged until it is fulfilled', async () => {
  const { itemId, locationId } = getFirstLevel()
  simulator.change({ kind: 'count', itemId, locationId, available: 5 })
  const orderId = simulator.change({ kind: 'sell', lines: [{ itemId, locationId, quantity: 2 }] })
  const readQuantities = async () => {
    const { nodes } = (await send(findOperation('Levels'), { ids: [`gid://shopify/InventoryItem/${itemId}`] })).body
      .data
    const { quantities } = nodes[0].inventoryLevels.nodes[0]
    return quantities.slice(0, 3).map(({ quantity }: { quantity: number }) => quantity)
  }
  assert.deepEqual(await readQuantities(), [3, 5, 2])
  const order = (await send(findOperation('SalesSince'), { ids: [`gid://shopify/Order/${orderId}`] })).body.data
    .nodes[0]
  assert.equal(order.fulfillmentOrders.nodes[0].lineItems.nodes[0].remainingQuantity, 2)
  simulator.change({ kind: 'fulfil', orderId })
  assert.deepEqual(await readQuantities(), [3, 3, 0])
})

test('five bulk operations run at a time and end unaided', async () => {
  simulator.set({ bulkSeconds: 10 })
  const startBulk = async () =>
    (await send(findOperation('BulkQuery'), { query: findOperation('BulkLevels') })).body.data.bulkOperationRunQuery
  for (let i = 0; i < 5; i++) assert.deepEqual((await startBulk()).userErrors, [])
  assert.equal((await startBulk()).userErrors[0].code, 'OPERATION_IN_PROGRESS')
  simulator.clock.advance(11)
  assert.deepEqual((await startBulk()).userErrors, [])
})

test('a bulk operation writes nested nodes below their parents', async () => {
  simulator.set({ bulkSeconds: 10 })
  const started = (await send(findOperation('BulkQuery'), { query: findOperation('BulkLevels') })).body.data
    .bulkOperationRunQuery
  assert.deepEqual(started.userErrors, [])
  const poll = async () => (await send(findOperation('Bulk'), { id: started.bulkOperation.id })).body.data.bulkOperation
  assert.deepEqual([(await poll()).status, (await poll()).url], ['CREATED', null])
  simulator.clock.advance(11)
  const { status, objectCount, rootObjectCount, url } = await poll()
  assert.deepEqual([status, objectCount, rootObjectCount], ['COMPLETED', '900', '300'])
  const lines = (await (await fetch(url)).text())
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(lines.length, 900)
  assert.equal(lines[1].__parentId, lines[0].id)
  simulator.faults.add({ kind: 'bulk-half', path: '/bulk-file' })
  assert.equal((await (await fetch(url)).text()).trim().split('\n').length, 450)
})

test('faults of pages repeat, shuffle and ignore', async () => {
  const readPage = async (variables: object) =>
    (await send(findOperation('Variants'), variables)).body.data.productVariants
  const first = await readPage({})
  simulator.faults.add({ kind: 'page-repeated', path: '/Variants', times: 1 })
  assert.deepEqual(await readPage({ after: first.pageInfo.endCursor }), first)
  simulator.faults.add({ kind: 'filter-ignored', times: 1 })
  assert.equal((await readPage({ query: 'sku:none' })).nodes.length, 250)
  simulator.faults.add({ kind: 'page-shuffled', times: 1 })
  const shuffled = await readPage({})
  assert.notDeepEqual(shuffled.nodes, first.nodes)
  assert.equal(shuffled.nodes.length, first.nodes.length)
  simulator.faults.add({ kind: 'foreign-cursor', times: 1 })
  assert.equal(
    (await send(findOperation('Variants'), { after: (await readPage({})).pageInfo.endCursor })).body.errors?.length,
    1,
  )
})

test('a lost response has taken effect', async () => {
  const level = getFirstLevel()
  const before = computeOnHand(level)
  simulator.faults.add({ kind: 'lost-response', path: '/SetQuantities', times: 1 })
  await assert.rejects(setOnHand([buildRow(42, before)]))
  assert.equal(computeOnHand(level), 42)
})

test('an event is signed, and sent again after an error', async () => {
  const received: { body: string; signature: string; topic: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({
      body,
      signature: String(request.headers['x-shopify-hmac-sha256']),
      topic: String(request.headers['x-shopify-topic']),
    })
    response.statusCode = received.length === 1 ? 500 : 200
    response.end()
    if (received.length === 2) server.emit('twice')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { userErrors } = (await send(findOperation('Subscribe'), { topic: 'ORDERS_CREATE', hook: { uri } })).body.data
      .webhookSubscriptionCreate
    assert.deepEqual(userErrors, [])
    const { itemId, locationId } = getFirstLevel()
    const twice = once(server, 'twice')
    simulator.change({ kind: 'sell', lines: [{ itemId, locationId, quantity: 1 }] })
    await twice
    const [first, second] = received
    assert.equal(first?.topic, 'orders/create')
    assert.equal(first?.body, second?.body)
    const signature = createHmac('sha256', simulator.settings.clientSecret)
      .update(first?.body ?? '')
      .digest('base64')
    assert.equal(first?.signature, signature)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
