import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sql } from '../../../src/database/db.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import { importAndWait } from '../../support/import-and-wait.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { waitUntil } from '../../support/processes.ts'
import { put } from '../../support/write.ts'
import { checkMappings, listIssues, listSummaries, startWithWorker } from './checked-shop.ts'
import { buildCustomerExport, buildInventoryExport, buildNewProductExport, buildProductExport } from './shopify.ts'

const api = await startWithWorker()

test('a Shopify export can be imported repeatedly; missing records are unmapped', async () => {
  const caller = await createUnmappedShop(api)
  const first = await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', "'0012001"],
      ['M', 'MH01-M', "'9300000000001"],
    ]),
  )
  assert.deepEqual([first.state, first.read, first.new, first.rejected], ['ok', 3, 2, 0])
  assert.deepEqual(first.notes, [
    { note: 'apostrophe before an identifier, number, post code or phone: removed', count: 2 },
    { note: 'without a SKU: skipped', count: 1 },
  ])
  const again = await importAndWait(caller, 'ecommerce-variants', buildProductExport([['S', "'0012001"]]))
  assert.deepEqual([again.new, again.changed, again.unchanged], [0, 0, 2])
  assert.ok(
    again.notes.some(({ note }: { note: string }) => /no longer in the file/.test(note)),
    JSON.stringify(again.notes),
  )
  const renamed = await importAndWait(
    caller,
    'ecommerce-variants',
    buildNewProductExport([
      ['S', "'0012001"],
      ['L', 'MH01-L', "'9300000000002"],
    ]),
  )
  assert.deepEqual(
    [renamed.read, renamed.new, renamed.unchanged, renamed.rejected],
    [3, 1, 2, 0],
    JSON.stringify(renamed),
  )
  await importAndWait(caller, 'ecommerce-variants', buildProductExport([['S', "'0012001"]]))
  const locations = await importAndWait(
    caller,
    'ecommerce-locations',
    buildInventoryExport(['Collins Street', 'Harbour'], ['a', 'b']),
  )
  assert.deepEqual([locations.read, locations.new, locations.rejected], [4, 2, 0])
  const rejected = await importAndWait(
    caller,
    'ecommerce-customers',
    buildCustomerExport([
      ['1', 'a@example.com'],
      ['2', 'b@example.com'],
    ]),
  )
  assert.deepEqual([rejected.new, rejected.rejected], [2, 0])
  const partly = await importAndWait(
    caller,
    'ecommerce-customers',
    `Customer ID,Email\n3,c@example.com\n${'4'.repeat(101)},\n`,
  )
  assert.deepEqual([partly.new, partly.rejected, partly.notes], [1, 1, []], 'a rejected line keeps all records')
  const { stores, skus, customers } = await checkMappings(caller)
  assert.deepEqual([stores.listed, skus.listed, customers.listed], [2, 1, 3])
})

test('an interrupted file keeps its imported lines and queues a check', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(caller, 'ecommerce-customers', 'Customer ID,Email\n1,a@example.com\n2,b@example.com\n')
  const before = (await checkMappings(caller)).customers
  const lines = Array.from({ length: 20_000 }, () => `${randomInt(2 ** 40)},${randomUUID()}@example.com`)
  const compressed = gzipSync(`Customer ID,Email\n${lines.join('\n')}\n`)
  const broken = await importAndWait(caller, 'ecommerce-customers', compressed.subarray(0, -9))
  assert.deepEqual([broken.state, broken.notes], ['failed', []], JSON.stringify(broken))
  assert.ok(broken.new > 0)
  const getCustomerStatus = async () =>
    (await caller.get('/mappings/check')).json.data.find(({ kind }: { kind: string }) => kind === 'customers')
  await waitUntil(
    async () => (await getCustomerStatus()).checkedAt !== before?.checkedAt,
    'the mappings are checked again',
    60_000,
  )
  assert.equal((await getCustomerStatus()).listed, 2 + broken.new)
})

test('a file with corrected rejected lines is not complete and removes nothing', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(caller, 'ecommerce-customers', 'Customer ID,Email\n1,a@example.com\n2,b@example.com\n')
  const rejection = { line: '2', column: 'customerId', reason: 'is too long' }
  const csv = await importAndWait(caller, 'ecommerce-customers', 'line,column,reason,Customer ID\n2,ID,is too long,3\n')
  const record = JSON.stringify({ ...rejection, customerId: '4' })
  const json = await importAndWait(caller, 'ecommerce-customers', `${record}\n`, {
    'content-type': 'application/x-ndjson',
  })
  assert.deepEqual([csv.new, csv.notes, json.new, json.notes, json.rejected], [1, [], 1, [], 0], JSON.stringify(json))
  assert.equal((await checkMappings(caller)).customers.listed, 4)
})

test('each record has a state with evidence; best-selling problems come first', async () => {
  const caller = await createUnmappedShop(api)
  const sale = {
    channel: 'store',
    saleDate: new Date().toISOString().slice(0, 19).replace('T', ' '),
    storeNumber: '102',
    type: 'sale',
  }
  await upsertTransactions(api.db, caller.service, [
    {
      header: { id: 't1', number: '1', ...sale, customerId: '65433' },
      line: { id: '1', sku: '12003', quantity: '4', price: '10.00', value: '40.00' },
    },
  ] as never)
  await put(caller, '/mappings/stores/1001', { ecommerceLocationId: '111' })
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'MH01-S' })
  await put(caller, '/mappings/customers/65432', {
    ecommerceAdminId: 'gid://shop/Customer/77',
    ecommerceLegacyId: '77',
  })
  const before = await checkMappings(caller)
  assert.deepEqual(
    [before.stores.states.unverified, before.stores.states.unmapped, before.stores.listedAt],
    [1, 1, null],
  )

  await importAndWait(caller, 'ecommerce-locations', 'Location ID,Name\n222,bourke  street\n333,Harbour\n')
  await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', 'MH01-S'],
      ['again', 'MH01-S'],
      ['M', '012002'],
      ['XL', 'MH01-XL'],
    ]),
  )
  await importAndWait(
    caller,
    'ecommerce-customers',
    buildCustomerExport([
      ['77', 'john@example.com'],
      ['88', 'other@example.com'],
    ]),
  )
  const { stores, skus, customers } = await checkMappings(caller)
  assert.deepEqual(stores.states, {
    unmapped: 0,
    platformOnly: 1,
    duplicate: 0,
    orphaned: 1,
    nearMatch: 1,
    matched: 0,
    unverified: 0,
  })
  assert.deepEqual(await listSummaries(caller, 'stores'), [
    ['1002', 'nearMatch', null, '222', 'name'],
    ['1001', 'orphaned', '111', null, ''],
    [null, 'platformOnly', '333', null, ''],
  ])
  const [bourke] = await listIssues(caller, 'stores')
  assert.deepEqual(
    [bourke?.name, bourke?.ecommerceName, bourke?.unitsInStock, bourke?.unitsSold],
    ['102 Bourke Street', 'bourke  street', 21, 4],
  )
  assert.equal(skus.states.duplicate, 1)
  assert.deepEqual(await listSummaries(caller, 'skus'), [
    ['12003', 'unmapped', null, null, ''],
    ['12001', 'duplicate', 'MH01-S', null, 'double'],
    ['12002', 'nearMatch', null, '012002', 'leadingZeros'],
    [null, 'platformOnly', 'MH01-XL', null, ''],
  ])
  assert.deepEqual(await listSummaries(caller, 'customers'), [
    ['65433', 'unmapped', null, null, ''],
    [null, 'platformOnly', '88', null, ''],
    ['65432', 'matched', '77', null, ''],
  ])
  assert.equal(customers.states.matched, 1)
  const first = (await caller.get('/mappings/issues/skus?limit=1')).json
  const next = (await caller.get(`/mappings/issues/skus?limit=1&after_cursor=${first.meta.endCursor}`)).json
  assert.deepEqual([first.data[0].id, next.data[0].id], ['12003', '12001'])
  assert.deepEqual((await listIssues(caller, 'skus', '?state=orphaned')).length, 0)
})

test('a near match names its difference, such as case, zeros or barcode', async () => {
  const caller = await createUnmappedShop(api)
  await api.db.run(
    sql`update variant set barcode = '0930001' where service_id = ${caller.service.id} and sku_id = '12003'`,
  )
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'mh01-s' })
  await put(caller, '/mappings/skus/12002', { ecommerceSku: 'MH01 M' })
  await put(caller, '/mappings/stores/1001', { ecommerceLocationId: 'gid://shopify/Location/111' })
  await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', 'MH01-S'],
      ['M', 'MH01M'],
      ['L', 'other', "'930001"],
    ]),
  )
  await importAndWait(caller, 'ecommerce-locations', 'ID,Name\n111,Somewhere\n')
  await importAndWait(caller, 'ecommerce-customers', buildCustomerExport([['99', 'JOHN@example.com']]))
  await checkMappings(caller)
  const getReasons = async (kind: string) =>
    Object.fromEntries(
      (await listIssues(caller, kind, '?state=nearMatch')).map(issue => [
        issue.id,
        [issue.suggestion, issue.evidence[0]?.reason],
      ]),
    )
  assert.deepEqual(await getReasons('skus'), {
    12001: ['MH01-S', 'case'],
    12002: ['MH01M', 'whitespace'],
    12003: ['other', 'barcode'],
  })
  assert.deepEqual(await getReasons('stores'), { 1001: ['111', 'form'] })
  assert.deepEqual(await getReasons('customers'), { 65432: ['99', 'email'] })
  await importAndWait(caller, 'ecommerce-customers', buildCustomerExport([['98', '00john@example.com']]))
  await checkMappings(caller)
  assert.deepEqual(await getReasons('customers'), {}, 'an address with leading zeros is another address')
})

test('a fully rejected file leaves mapped records unverified and orphans nothing', async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/mappings/stores/1001', { ecommerceLocationId: '111' })
  const rejected = await importAndWait(caller, 'ecommerce-locations', `ID,Name\n${'1'.repeat(101)},North\n`)
  assert.deepEqual([rejected.read, rejected.rejected], [1, 1])
  const { stores } = await checkMappings(caller)
  assert.deepEqual([stores.listedAt, stores.states.orphaned, stores.states.unverified], [null, 0, 1])
})

test('mappings in imported records are checked after the import', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(caller, 'ecommerce-locations', 'ID,Name\n111,North\n')
  await checkMappings(caller)
  const { storeId, storeNumber, name } = (await caller.get('/mappings/stores/1001')).json.data
  await importAndWait(
    caller,
    'stores',
    `storeId,storeNumber,name,ecommerceLocationId\n${storeId},${storeNumber},${name},111\n`,
  )
  await waitUntil(
    async () => (await listSummaries(caller, 'stores')).some(([id, state]) => id === '1001' && state === 'matched'),
    'the mappings are checked',
  )
})
