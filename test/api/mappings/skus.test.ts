import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertRejected } from '../../support/customer-bodies.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

const mapSku = (caller: Caller, skuId: string, change: object, headers = {}) =>
  put(caller, `/mappings/skus/${skuId}`, change, headers)

interface Colour {
  ecommerceProductId: string | null
  sizes: { skuId: string; ecommerceSku: string }[]
}
/** Returns the e-commerce SKUs of the product by `skuId`, and the platform products of its colours. */
const getPlatformNames = async (caller: Caller) => {
  const { colours } = (await caller.get('/products/5001')).json.data as { colours: Colour[] }
  const skus = colours.flatMap(({ sizes }) => sizes.map(({ skuId, ecommerceSku }) => [skuId, ecommerceSku]))
  return { skus: Object.fromEntries(skus), products: colours.map(colour => colour.ecommerceProductId) }
}
const listStock = async (caller: Caller, query: string) =>
  (await caller.get(`/inventory?${query}`)).json.data.map((record: Record<string, string>) => [
    record.skuId,
    record.sku,
    record.id,
  ])

test('a mapped SKU appears everywhere under its new name only', async () => {
  const caller = await createUnmappedShop(api)
  const path = '/mappings/skus/12001'
  const original = { skuId: '12001', productId: '5001', productCode: 'MH01', colourCode: 'BLK', sizeCode: 'S' }
  assert.deepEqual((await caller.get(path)).json.data, { ...original, ecommerceSku: null, ecommerceProductId: null })
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  const productsAsOf = (await caller.get('/products?limit=1')).json.meta.asOf
  const mapped = await mapSku(caller, '12001', { ecommerceSku: 'MH01-S-Black' })
  assert.equal(mapped.status, 200, mapped.text)
  assert.deepEqual(mapped.json.data, { ...original, ecommerceSku: 'MH01-S-Black', ecommerceProductId: null })
  const response = await caller.get(path)
  assert.deepEqual([response.json, response.headers.etag], [mapped.json, mapped.headers.etag])

  assert.deepEqual((await getPlatformNames(caller)).skus, { 12001: 'MH01-S-Black', 12002: '12002', 12003: '12003' })
  const stock = ['1001', '1002'].map(store => ['12001', 'MH01-S-Black', `${store}-MH01-S-Black`])
  assert.deepEqual((await listStock(caller, 'sku=MH01-S-Black')).sort(), stock)
  assert.deepEqual(
    (await listStock(caller, `updated_after=${asOf}`)).sort(),
    stock,
    'only this stock must have changed',
  )
  assert.equal((await caller.get(`/products?updated_after=${productsAsOf}`)).json.data.length, 1)
  assert.equal((await caller.get('/products?sku=MH01-S-Black')).json.data[0].id, '5001')
  assertProblem(await caller.get('/inventory?sku=12001'), 'not_found', api.baseUrl)
})

test('the platform product belongs to a colour and covers all its sizes', async () => {
  const caller = await createUnmappedShop(api)
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  assert.equal((await mapSku(caller, '12002', { ecommerceProductId: 'gid://shop/Product/1' })).status, 200)
  assert.deepEqual((await getPlatformNames(caller)).products, ['gid://shop/Product/1', null])
  const products = await Promise.all(['12001', '12002', '12003'].map(id => caller.get(`/mappings/skus/${id}`)))
  assert.deepEqual(
    products.map(({ json }) => json.data.ecommerceProductId),
    ['gid://shop/Product/1', 'gid://shop/Product/1', null],
  )
  assert.deepEqual(await listStock(caller, `updated_after=${asOf}`), [], 'inventory must not change')
  await mapSku(caller, '12001', { ecommerceSku: 'small' })
  assert.equal((await mapSku(caller, '12001', { ecommerceProductId: null })).json.data.ecommerceSku, 'small')
  assert.deepEqual((await getPlatformNames(caller)).products, [null, null])
})

test('null removes the mapped name, so the SKU uses its identifier', async () => {
  const caller = await createUnmappedShop(api)
  await mapSku(caller, '12001', { ecommerceSku: 'small', ecommerceProductId: '1' })
  const { data } = (await mapSku(caller, '12001', { ecommerceSku: null })).json
  assert.deepEqual([data.ecommerceSku, data.ecommerceProductId], [null, '1'])
  assert.equal((await getPlatformNames(caller)).skus['12001'], '12001')
  assert.equal((await listStock(caller, 'sku=12001')).length, 2)
  assertProblem(await caller.get('/inventory?sku=small'), 'not_found', api.baseUrl)
})

test('a name used by another SKU is rejected and nothing is changed', async () => {
  const caller = await createUnmappedShop(api)
  await mapSku(caller, '12001', { ecommerceSku: 'small' })
  const taken = { ecommerceProductId: 'other', ecommerceSku: 'small' }
  for (const [id, change] of [
    ['12002', taken],
    ['12002', { ...taken, ecommerceSku: '12003' }],
  ] as const)
    assertRejected(api, await mapSku(caller, id, change), 'sku_taken', '/ecommerceSku')
  assert.equal((await mapSku(caller, '12003', { ecommerceSku: '12001' })).status, 200)
  assertRejected(api, await mapSku(caller, '12001', { ecommerceSku: null }), 'sku_taken', '/ecommerceSku')
  assert.deepEqual(await getPlatformNames(caller), {
    skus: { 12001: 'small', 12002: '12002', 12003: '12001' },
    products: [null, null],
  })
  const entries = (await caller.get('/audit')).json.data
  assert.equal(entries.length, 2)
})

test('only one of many SKUs gets the same name concurrently', async () => {
  const caller = await createUnmappedShop(api)
  for (let round = 0; round < 10; round++) {
    const responses = await Promise.all(
      ['12001', '12002', '12003'].map(id => mapSku(caller, id, { ecommerceSku: `one ${round}` })),
    )
    for (const response of responses)
      if (response.status !== 200) assertRejected(api, response, 'sku_taken', '/ecommerceSku')
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    assert.equal((await listStock(caller, `sku=one ${round}`)).length, 2)
  }
})

test('two concurrent changes of one SKU are both stored', async () => {
  const caller = await createUnmappedShop(api)
  for (let round = 0; round < 10; round++) {
    const input = { ecommerceSku: `sku ${round}`, ecommerceProductId: `product ${round}` }
    await Promise.all(Object.entries(input).map(([name, value]) => mapSku(caller, '12001', { [name]: value })))
    const { data } = (await caller.get('/mappings/skus/12001')).json
    assert.deepEqual([data.ecommerceSku, data.ecommerceProductId], Object.values(input))
    const { skus, products } = await getPlatformNames(caller)
    assert.deepEqual([skus['12001'], products[0]], Object.values(input))
  }
})

test('an invalid SKU mapping or a stale version is rejected', async () => {
  const caller = await createUnmappedShop(api)
  assertRejected(api, await mapSku(caller, '12001', { sku: 'x', skuId: '1' }), 'invalid_body', '/sku', '/skuId')
  const wrong = { ecommerceSku: 'x'.repeat(251), ecommerceProductId: 'x'.repeat(101) }
  assertRejected(api, await mapSku(caller, '12001', wrong), 'invalid_field', '/ecommerceSku', '/ecommerceProductId')
  const { etag } = (await caller.get('/mappings/skus/12001')).headers
  assert.equal((await mapSku(caller, '12001', {}, { 'if-match': String(etag) })).headers.etag, etag)
  await mapSku(caller, '12001', { ecommerceSku: 'small' })
  const late = await mapSku(caller, '12001', { ecommerceSku: 'S' }, { 'if-match': String(etag) })
  assertProblem(late, 'precondition_failed', api.baseUrl)
  assertProblem(await mapSku(caller, 'small', { ecommerceSku: 'S' }), 'not_found', api.baseUrl)
})
