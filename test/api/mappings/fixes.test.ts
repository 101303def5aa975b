import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { importAndWait } from '../../support/import-and-wait.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put, remove } from '../../support/write.ts'
import { checkMappings, createFix, listIssues, listSummaries, startWithWorker, summarize } from './checked-shop.ts'
import { buildCustomerExport, buildProductExport } from './shopify.ts'

const api = await startWithWorker()

test('a fix applies immediately and can be undone before another change', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', 'MH01-S'],
      ['M', 'MH01-M'],
    ]),
  )
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'mh01-s' })
  await checkMappings(caller)
  const fixed = await createFix(caller, 'skus', '12001', 'MH01-S')
  assert.equal(fixed.status, 201, fixed.text)
  assert.equal(fixed.headers.location, '/mappings/skus/12001')
  const { id: fixId, before, after: now, username } = fixed.json.data
  assert.deepEqual([before, now, username], [{ ecommerceSku: 'mh01-s' }, { ecommerceSku: 'MH01-S' }, caller.username])
  assert.equal((await caller.get('/mappings/skus/12001')).json.data.ecommerceSku, 'MH01-S')
  assert.deepEqual((await listIssues(caller, 'skus', '?state=matched')).map(summarize), [
    ['12001', 'matched', 'MH01-S', null, ''],
  ])
  assertProblem(await createFix(caller, 'skus', '12002', 'MH01-S'), 'sku_taken', api.baseUrl)
  assertProblem(await createFix(caller, 'skus', 'none', 'MH01-M'), 'not_found', api.baseUrl)

  const undo = (id: string) => post(caller, `/mappings/fixes/${id}/undo`, {})
  const undone = await undo(fixId)
  assert.equal(undone.status, 200, undone.text)
  assert.ok(undone.json.data.undoneAt)
  assert.equal((await caller.get('/mappings/skus/12001')).json.data.ecommerceSku, 'mh01-s')
  assert.deepEqual((await listIssues(caller, 'skus', '?state=nearMatch')).map(summarize), [
    ['12001', 'nearMatch', 'mh01-s', 'MH01-S', 'case'],
  ])
  const entries = (await caller.get('/audit?record=/mappings/skus/12001')).json.data
  assert.deepEqual(
    entries.map(({ operation }: { operation: string }) => operation.replace(/.*fixes/, '')),
    ['PUT /mappings/skus/:id', '', '/:id/undo'],
    JSON.stringify(entries),
  )
  assert.deepEqual((await undo(fixId)).json.data, undone.json.data, 'a second undo must change nothing')

  const other = (await createFix(caller, 'skus', '12002', 'MH01-M')).json.data
  await put(caller, '/mappings/skus/12002', { ecommerceSku: null })
  assertProblem(await undo(other.id), 'mapping_changed', api.baseUrl)
  assertProblem(await undo('none'), 'not_found', api.baseUrl)
  const listed = (await caller.get('/mappings/fixes')).json.data
  assert.deepEqual(
    listed.map((item: { id: string }) => item.id),
    [other.id, fixId],
  )
  await api.db.run(sql`update mapping_fix set changed_at = now() - interval '91 days' where fix_id = ${fixId}`)
  const fixes = (await caller.get('/mappings/fixes')).json.data
  assert.deepEqual(
    fixes.map((item: { id: string }) => item.id),
    [other.id],
    'fixes are listed for 90 days',
  )
  assertProblem(await undo(fixId), 'not_found', api.baseUrl)
  const [entry] = (await caller.get('/audit')).json.data.filter(({ operation }: { operation: string }) =>
    /fixes$/.test(operation),
  )
  assert.deepEqual(
    [entry.operation, entry.fields, entry.username],
    ['POST /mappings/fixes', ['kind', 'id', 'to'], caller.username],
  )
})

test("a fix is rejected if the record's mapping has changed since", async () => {
  const caller = await createUnmappedShop(api)
  const platform: [string, string][] = [
    ['S', 'MH01-S'],
    ['M', 'MH01-M'],
    ['L', '12003'],
  ]
  await importAndWait(caller, 'ecommerce-variants', buildProductExport(platform))
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'mh01-s' })
  await checkMappings(caller)
  const [issue] = await listIssues(caller, 'skus', '?state=nearMatch')
  assert.equal(issue?.ecommerceId, 'mh01-s')
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'theirs' })
  for (const from of ['mh01-s', null])
    assertProblem(await createFix(caller, 'skus', '12001', 'MH01-S', { from }), 'mapping_changed', api.baseUrl)
  assert.equal((await caller.get('/mappings/skus/12001')).json.data.ecommerceSku, 'theirs')

  await put(caller, '/mappings/customers/65432', { ecommerceAdminId: 'gid://shop/Customer/5' })
  for (const [kind, id, from, to] of [
    ['skus', '12001', 'theirs', 'MH01-S'],
    ['skus', '12002', null, 'MH01-M'],
    // The SKU stands for itself on the platform, because no mapping is stored.
    ['skus', '12003', '12003', 'other'],
    ['stores', '1001', null, '7'],
    ['stores', '1001', '7', null],
    ['customers', '65432', '5', '6'],
    ['customers', '65433', null, '5'],
  ] as const)
    assert.equal((await createFix(caller, kind, id, to, { from })).status, 201, `${id} from ${from}`)
})

test('two records of one platform item are duplicates until one is unmapped', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(caller, 'ecommerce-locations', 'ID,Name\n1,One\n')
  for (const id of ['1001', '1002']) await put(caller, `/mappings/stores/${id}`, { ecommerceLocationId: '1' })
  for (const [id, legacy] of [
    ['65432', '5'],
    ['65433', '6'],
  ])
    await put(caller, `/mappings/customers/${id}`, {
      ecommerceAdminId: 'gid://shop/Customer/5',
      ecommerceLegacyId: legacy,
    })
  await checkMappings(caller)
  assert.deepEqual((await listSummaries(caller, 'stores')).toSorted(), [
    ['1001', 'duplicate', '1', null, 'shared 1002'],
    ['1002', 'duplicate', '1', null, 'shared 1001'],
  ])
  assert.deepEqual(await listIssues(caller, 'customers', '?state=duplicate').then(all => all.map(summarize)), [
    ['65433', 'duplicate', '6', null, 'clash,clash'],
  ])
  await createFix(caller, 'stores', '1002', null)
  assert.deepEqual((await listSummaries(caller, 'stores')).toSorted(), [
    ['1001', 'matched', '1', null, ''],
    ['1002', 'unmapped', null, null, ''],
  ])
  const corrected = await createFix(caller, 'customers', '65433', '6')
  assert.deepEqual(corrected.json.data.after, { ecommerceAdminId: null, ecommerceLegacyId: '6' })
})

test('an item freed by a fix and suggested again is not platformOnly', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', 'X1'],
      ['M', 'x1'],
    ]),
  )
  await put(caller, '/mappings/skus/12001', { ecommerceSku: ' X1' })
  await put(caller, '/mappings/skus/12002', { ecommerceSku: 'X1' })
  await checkMappings(caller)
  await createFix(caller, 'skus', '12002', 'x1')
  const all = await listSummaries(caller, 'skus')
  assert.deepEqual(
    all.filter(([id]) => id !== '12003'),
    [
      ['12001', 'nearMatch', ' X1', 'X1', 'whitespace'],
      ['12002', 'matched', 'x1', null, ''],
    ],
  )
})

test('erasing a customer rechecks duplicate mappings; leading zeros stay significant', async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/customers/65432', { contact: { email: '7@example.com' } })
  await put(caller, '/customers/65433', { contact: { email: 'mary@example.com' } })
  for (const id of ['65432', '65433']) await put(caller, `/mappings/customers/${id}`, { ecommerceLegacyId: '5' })
  await importAndWait(
    caller,
    'ecommerce-customers',
    buildCustomerExport([
      ['5', 'both@example.com'],
      ['7', '7@example.com'],
      ['8', '007@example.com'],
    ]),
  )
  await checkMappings(caller)
  await createFix(caller, 'customers', '65432', '5')
  const exported = (await caller.get('/customers/65432/export')).json.data
  assert.deepEqual(
    exported.ecommerce.map(({ ecommerceId }: { ecommerceId: string }) => ecommerceId),
    ['5', '7'],
  )
  assert.deepEqual(
    [exported.mappingIssues.map(({ state }: { state: string }) => state), exported.mappingFixes.length],
    [['duplicate'], 1],
  )
  assert.equal((await remove(caller, '/customers/65432')).status, 200)
  const remaining = await api.db.rows<{ id: string }>(
    sql`select ecommerce_id as id from ecommerce_item where service_id = ${caller.service.id}`,
  )
  assert.deepEqual(remaining, [{ id: '8' }])
  const other = (await listIssues(caller, 'customers')).find(({ id }) => id === '65433')
  assert.deepEqual([other?.state, other?.evidence], ['orphaned', []])
})

test('erasure deletes platform items; only admins see mapping issues', async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/mappings/customers/65432', { ecommerceLegacyId: '77' })
  await importAndWait(
    caller,
    'ecommerce-customers',
    buildCustomerExport([
      ['77', 'first@example.com'],
      ['78', 'john@example.com'],
      ['79', 'jane@example.com'],
    ]),
  )
  await checkMappings(caller)
  await createFix(caller, 'customers', '65432', '78')
  await createFix(caller, 'customers', '65432', '77')
  assert.equal((await remove(caller, '/customers/65432')).status, 200)
  const remaining = await api.db.rows<{ other: string }>(
    sql`select other from ecommerce_item where service_id = ${caller.service.id}`,
  )
  assert.deepEqual(remaining, [{ other: 'jane@example.com' }])
  assert.deepEqual((await caller.get('/mappings/fixes')).json.data, [])
  assert.ok((await listIssues(caller, 'customers')).every(({ id }) => id !== '65432'))
  const maintainer = await api.createAccount('maintainer', caller.service)
  for (const path of ['check', 'issues/stores', 'fixes'])
    assertProblem(await maintainer.get(`/mappings/${path}`), 'insufficient_role', api.baseUrl)
  const stranger = await createUnmappedShop(api)
  const { id: fixId } = (await createFix(caller, 'stores', '1001', '1')).json.data
  assertProblem(await post(stranger, `/mappings/fixes/${fixId}/undo`, {}), 'not_found', api.baseUrl)
})
