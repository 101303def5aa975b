import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { assertProblem, withoutRequestData } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'
import { fillWithCanaries, toCanaryPath } from './canaries.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
let shops: Caller[]
before(async () => {
  shops = [api, ...(await Promise.all(Array.from({ length: 5 }, () => api.createService({ readsPerMinute: 'off' }))))]
  for (const [i, caller] of shops.entries()) await fillWithCanaries(api, caller, `canary-${i}-`)
})
after(() => api.stop())

test("reading another service's record returns the same 404 as an unknown record", async () => {
  const [own, foreign] = [shops[0], 'canary-1-id'] as const
  const { json: document } = await api.sendRaw('/openapi.json')
  // Vouchers are left out: an unknown number gets the same response as a wrong PIN.
  const paths = Object.keys(document.paths).filter(
    path => /\{/.test(path) && document.paths[path].get && !/^\/(errors|vouchers)\//.test(path),
  )
  assert.ok(paths.length >= 12, paths.join())
  for (const path of paths) {
    assert.equal((await shops[1]?.get(toCanaryPath(path, foreign)))?.status, 200, `${path} must exist for its owner`)
    const [other, unknown] = [
      await own?.get(toCanaryPath(path, foreign)),
      await own?.get(toCanaryPath(path, 'no-such-id')),
    ]
    assert.ok(other && unknown)
    assertProblem(other, 'not_found', api.baseUrl, toCanaryPath(path, foreign))
    assert.deepEqual(withoutRequestData(other), withoutRequestData(unknown), path)
  }
})

test("writing another service's record returns the same 404 as an unknown record", async () => {
  const [own, foreign] = [shops[0] ?? api, 'canary-1-id'] as const
  const returnBody = { lines: [{ sku: `sku-${foreign}`, quantity: 1, reasonCode: 'SIZE' }] }
  for (const [write, path, body] of [
    [put, '/customers/{id}', { title: 'Mr' }],
    [post, '/orders/{id}/returns', returnBody],
    [put, '/stores/{id}', { inventoryBuffer: 1 }],
    [put, '/mappings/stores/{id}', { ecommerceLocationId: '1' }],
    [put, '/mappings/skus/{id}', { ecommerceSku: '1' }],
    [put, '/mappings/customers/{id}', { ecommerceAdminId: '1' }],
    [put, '/accounts/{id}', { role: 'visitor' }],
    [post, '/accounts/{id}/rotate', {}],
    [post, '/accounts/{id}/revoke', {}],
    [post, '/alerts/{id}/resolve', {}],
    [post, '/vouchers/{id}/suspend', {}],
    [post, '/vouchers/{id}/resend', {}],
  ] as const) {
    const [other, unknown] = [
      await write(own, toCanaryPath(path, foreign), body),
      await write(own, toCanaryPath(path, 'no-such-id'), body),
    ]
    assertProblem(other, 'not_found', api.baseUrl, toCanaryPath(path, foreign))
    assert.deepEqual(withoutRequestData(other), withoutRequestData(unknown), path)
  }
})

test("another service's codes and email addresses match nothing", async () => {
  const foreign = 'canary-1-id'
  for (const path of [
    `/staff?code=${foreign}`,
    `/staff?email=${foreign}@example.com`,
    `/products?code=${foreign}`,
    `/products?sku=sku-${foreign}`,
    `/customers?email=${foreign}@example.com`,
    `/inventory?store_number=${foreign}`,
  ]) {
    assert.equal((await shops[1]?.get(path))?.json.data.length, 1, path)
    assert.deepEqual((await shops[0]?.get(path))?.json.data, [], path)
  }
  const [other, unknown] = [
    await shops[0]?.get(`/inventory?sku=sku-${foreign}`),
    await shops[0]?.get('/inventory?sku=none'),
  ]
  assert.ok(other && unknown)
  assert.deepEqual(withoutRequestData(other), withoutRequestData(unknown))
  assert.equal(other.status, 404)
})

test('two services can use the same identifiers, codes and email addresses', async () => {
  for (const [i, caller] of shops.entries()) {
    assert.equal((await caller.get('/customers/1')).json.data.firstname, `canary-${i}-customer`)
    assert.equal((await caller.get('/stores/1')).json.data.name, `canary-${i}-store`)
    assert.equal((await caller.get('/staff?code=1')).json.data[0].surname, `canary-${i}-staff`)
    assert.equal((await caller.get('/products?sku=sku-1')).json.data[0].name, `canary-${i}-product`)
    assert.equal((await caller.get('/rewards/accounts/1')).json.data.programName, `canary-${i}-program`)
  }
})

test('concurrent responses of several services never mix, even with errors', async () => {
  const paths = [
    '/stores',
    '/staff',
    '/inventory',
    '/products',
    '/customers/search',
    '/customers/1',
    '/customers?email=1@example.com',
    '/orders/transactions/search',
    '/customers/1/transactions',
    '/customers/1/rewards',
    '/rewards/programs',
    '/payment-gateways',
    '/stores/1',
    '/nowhere',
    '/customers/9',
    '/stores?limit=0',
  ]
  let responseCount = 0
  await Promise.all(
    shops.flatMap((caller, i) =>
      Array.from({ length: 4 }, async (_, worker) => {
        for (let n = 0; n < 60; n++) {
          const path = paths[(n * 7 + worker) % paths.length] ?? ''
          const { text, status } = await caller.get(path)
          const canaries = new Set(text.match(/canary-\d+-/g))
          if (status === 200 && !path.includes('inventory')) assert.deepEqual([...canaries], [`canary-${i}-`], path)
          else assert.ok(canaries.isSubsetOf(new Set([`canary-${i}-`])), path)
          responseCount++
        }
      }),
    ),
  )
  assert.equal(responseCount, 6 * 4 * 60)
})

test('an unassigned service and an unknown service get the same response', async () => {
  const getStores = (name: string) => api.get('/stores', { 'x-service-name': name })
  const unknown = await getStores('no-such-service')
  assertProblem(unknown, 'service_not_assigned', api.baseUrl, '/stores')
  const own = api.service.name
  for (const name of [
    ...shops.slice(1).map(caller => caller.service.name),
    own.toUpperCase(),
    `${own}x`,
    own.slice(0, -1),
    `${own},${own}`,
    '*',
    '%',
    "' or 1=1 --",
    '__proto__',
    'constructor',
    String(api.service.id),
  ])
    assert.deepEqual(withoutRequestData(await getStores(name)), withoutRequestData(unknown), name)
  assertProblem(await getStores(''), 'service_name_required', api.baseUrl, '/stores')
  assertProblem(await getStores('  '), 'service_name_required', api.baseUrl, '/stores')
})

test('one account can use several services with a role in each', async () => {
  const [first, second] = [shops[2], shops[3]]
  assert.ok(first && second)
  const sharedAccount = await api.createAccount('visitor', first.service)
  await addAccount(api.db, api.keys, sharedAccount.username, second.service, 'admin')
  assert.equal((await sharedAccount.get('/customers/1')).json.data.firstname, 'canary-2-customer')
  const other = { 'x-service-name': second.service.name }
  assert.equal((await sharedAccount.get('/customers/1', other)).json.data.firstname, 'canary-3-customer')
  assert.equal((await sharedAccount.get('/settings')).status, 403)
  assert.equal((await sharedAccount.get('/settings', other)).status, 200)
})

test("a child record cannot reference another service's parent", async () => {
  const [from, to] = [shops[1]?.service.id, shops[0]?.service.id]
  const foreign = 'canary-1-id'
  await upsertCustomers(api.db, api.service, [{ id: 'no account', firstname: 'Ann' }])
  const children = [
    sql`insert into colour (service_id, product_id, colour_id) values (${to}, ${foreign}, 'x')`,
    sql`insert into variant (service_id, sku_id, product_id, colour_id, sku, size_code, original_price, price) values (${to}, 'x', ${foreign}, ${foreign}, 'x', 'S', 1, 1)`,
    sql`insert into stock (service_id, store_id, sku_id, free_stock, changed_at, record) values (${to}, ${foreign}, '1', 1, now(), '{}')`,
    sql`insert into stock (service_id, store_id, sku_id, free_stock, changed_at, record) values (${to}, '1', ${foreign}, 1, now(), '{}')`,
    sql`insert into reward_account (service_id, id, changed_at, customer_id, program_id) values (${to}, 'x', now(), 'no account', ${foreign})`,
    sql`insert into reward_lot (service_id, account_id, kind, lot_id, created_at, total) values (${to}, ${foreign}, 'points', 'x', now(), 1)`,
    sql`update colour set product_id = ${foreign} where service_id = ${to}`,
    sql`update product set service_id = ${to} where service_id = ${from} and product_id = ${foreign}`,
  ]
  for (const child of children)
    await assert.rejects(api.db.run(child), ({ code }: { code: string }) => code === '23503', child.strings[0])
})
