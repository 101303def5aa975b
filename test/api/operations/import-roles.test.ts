import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importTypes } from '../../../src/import/pipeline/import-types.ts'
import { importAndWait, uploadFile, waitForImport } from '../../support/import-and-wait.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

/** Import types that are reserved for admins: mappings, and gateways, which are a setting. */
const adminTypes = [
  'payment-gateways',
  'store-mapping',
  'sku-mapping',
  'ecommerce-locations',
  'ecommerce-variants',
  'ecommerce-customers',
]

test('a maintainer cannot import data that they cannot change individually', async () => {
  const maintainer = await api.createAccount('maintainer')
  for (const kind of Object.keys(importTypes)) {
    const response = await uploadFile(maintainer, kind, 'x\n')
    if (adminTypes.includes(kind)) assertProblem(response, 'insufficient_role', api.baseUrl, '/imports')
    else assert.equal((await waitForImport(maintainer, response)).state, 'failed', kind)
    assert.equal((await importAndWait(api, kind, 'x\n')).state, 'failed', kind)
  }
})

test('only an admin can import mappings and see their rejected lines', async () => {
  const maintainer = await api.createAccount('maintainer')
  const { path } = await importAndWait(api, 'store-mapping', 'storeId,ecommerceLocationId\n9,9\n')
  for (const importPath of [path, `${path}/rejected`]) {
    assert.equal((await api.get(importPath)).status, 200)
    assertProblem(await maintainer.get(importPath), 'insufficient_role', api.baseUrl, importPath)
  }
})

test('only an admin can import columns that map or configure', async () => {
  const admin = await api.createService()
  const maintainer = await api.createAccount('maintainer', admin.service)
  await importAndWait(admin, 'stores', 'storeId,storeNumber,name,ecommerceLocationId,inventoryBuffer\n1,101,x,77,3\n')
  const csvWithBuffer = 'storeId,storeNumber,name,inventoryBuffer\n1,101,y,9\n'
  for (const [query, csv, reason] of [
    ['', csvWithBuffer, /inventoryBuffer requires the role admin/],
    [{ map: { inventoryBuffer: 'B' } }, csvWithBuffer, /inventoryBuffer requires the role admin/],
    [
      { set: { ecommerceLocationId: '5' } },
      'storeId,storeNumber,name\n1,101,y\n',
      /ecommerceLocationId requires the role admin/,
    ],
  ] as const) {
    const profile = query && `?profile=${encodeURIComponent(JSON.stringify(query))}`
    const run = await importAndWait(maintainer, `stores${profile}`, csv)
    assert.equal(run.state, 'failed')
    assert.match(run.detail, reason)
  }
  const line = '{"storeId":"1","storeNumber":"101","name":"y","inventoryBuffer":9}\n'
  const run = await importAndWait(maintainer, 'stores', line, { 'content-type': 'application/x-ndjson' })
  assert.deepEqual([run.state, run.rejected], ['ok', 1])
  const otherStores = await importAndWait(
    maintainer,
    'stores?profile=%7B%22ignore%22%3A%5B%22*%22%5D%7D',
    csvWithBuffer,
  )
  assert.deepEqual([otherStores.state, otherStores.changed], ['ok', 1])
  const { name, ecommerceLocationId, inventoryBuffer } = (await admin.get('/stores/101')).json.data
  assert.deepEqual([name, ecommerceLocationId, inventoryBuffer], ['y', '77', 3])
})
