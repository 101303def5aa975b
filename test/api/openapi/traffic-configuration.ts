import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Traffic } from './traffic.ts'

/** Tests the responses to an admin who configures the service. */
export function testConfiguration(traffic: () => Traffic) {
  test('settings changes and the audit log match the document', async () => {
    const { api, get, put, assertRejected } = traffic()
    const { json, headers } = await get('/settings')
    assert.equal((await put('/settings', json.data, { 'if-match': String(headers.etag) })).status, 200)
    const resets = Object.fromEntries(Object.keys(json.data).map(name => [name, null]))
    assert.equal((await put('/settings', resets, {}, await api.createService())).status, 200)
    await assertRejected('invalid_field', put('/settings', { currency: 'AUX', gateways: ['visa', 'visa'] }))
    await assertRejected('invalid_body', put('/settings', { colour: 'red' }))
    await assertRejected('precondition_failed', put('/settings', {}, { 'if-match': '"stale"' }))
    const store = `/stores/${(await get('/stores?limit=1')).json.data[0].storeNumber}`
    assert.equal((await put(store, { inventoryBuffer: 1 })).status, 200)
    await assertRejected('invalid_field', put(store, { inventoryBuffer: -1 }))
    const auditPage = (await get('/audit?limit=100')).json
    assert.ok(auditPage.data.length > 5)
    await get(`/audit?limit=2&updated_after=${auditPage.meta.asOf}`)
  })

  test('accounts are created, read, changed, rotated and revoked as documented', async () => {
    const { api, get, post, put, remove, assertRejected } = traffic()
    const created = await post(
      '/accounts',
      { username: 'traffic', role: 'maintainer' },
      { 'idempotency-key': 'traffic' },
    )
    assert.equal(created.status, 201, created.text)
    const path = String(created.headers.location)
    assert.ok((await get('/accounts?limit=1')).json.meta.hasNextPage)
    const { headers } = await get(path)
    assert.equal((await get(path, { 'if-none-match': headers.etag })).status, 304)
    assert.equal((await put(path, { role: 'visitor' }, { 'if-match': String(headers.etag) })).status, 200)
    assert.equal((await post(`${path}/rotate`, {})).status, 200)
    await assertRejected('precondition_failed', put(path, { role: 'admin' }, { 'if-match': String(headers.etag) }))
    await assertRejected('username_taken', post('/accounts', { username: 'traffic', role: 'visitor' }))
    await assertRejected('invalid_field', post('/accounts', { username: 'a:b', role: 'owner' }))
    await assertRejected('invalid_body', post(`${path}/rotate`, { username: 'traffic' }))
    await assertRejected('last_admin', put(`/accounts/${api.username}`, { role: 'visitor' }))
    await assertRejected('last_admin', post(`/accounts/${api.username}/revoke`, {}))
    await assertRejected('insufficient_role', get('/accounts', {}, await api.createAccount('maintainer')))
    const issued = await post(`${path}/keys`, {
      name: 'web-1',
      scopes: ['orders:read'],
      stores: ['101'],
      expiresInDays: 90,
    })
    assert.equal(issued.status, 201, issued.text)
    const authorization = `Basic ${issued.json.data.apiKey}`
    assert.equal((await get('/me', { authorization })).json.data.key.name, 'web-1')
    await assertRejected('insufficient_scope', get('/stores', { authorization }))
    await assertRejected('key_name_taken', post(`${path}/keys`, { name: 'web-1' }))
    assert.equal((await get(`${path}/keys`)).json.data.length, 1)
    assert.equal((await get(`${path}/keys/web-1`)).status, 200)
    assert.equal((await remove(`${path}/keys/web-1`)).status, 200)
    await assertRejected('not_found', get(`${path}/keys/web-1`))
    assert.equal((await post(`${path}/revoke`, {})).status, 200)
    for (const response of [
      put(path, { role: 'admin' }),
      post(`${path}/rotate`, {}),
      post(`${path}/revoke`, {}),
      get(path),
    ])
      await assertRejected('not_found', response)
  })

  test('mappings of stores, SKUs and customers match the document', async () => {
    const { get, put, assertRejected } = traffic()
    const mappings = {
      stores: ['storeId', { ecommerceLocationId: 'one' }, { ecommerceLocationId: null }],
      skus: ['skuId', { ecommerceSku: 'one', ecommerceProductId: '1' }, { ecommerceSku: null }],
      customers: ['customerId', { ecommerceAdminId: '1', ecommerceLegacyId: '1' }, { ecommerceAdminId: null }],
    } as const
    for (const [kind, [key, mapped, unmapped]] of Object.entries(mappings)) {
      const list = (await get(`/mappings/${kind}?limit=2`)).json
      await get(`/mappings/${kind}?state=unmapped&limit=100`)
      await get(`/mappings/${kind}?state=mapped&limit=1`)
      await get(`/mappings/${kind}?limit=1&after_cursor=${list.meta.endCursor}`)
      const path = `/mappings/${kind}/${list.data[0][key]}`
      const { etag } = (await get(path)).headers
      assert.equal((await get(path, { 'if-none-match': etag })).status, 304)
      assert.equal((await put(path, mapped, { 'if-match': String(etag) })).status, 200)
      assert.equal((await put(path, unmapped)).status, 200)
      await assertRejected('precondition_failed', put(path, mapped, { 'if-match': String(etag) }))
      await assertRejected('invalid_body', put(path, { id: 1 }))
      await assertRejected('not_found', put(`/mappings/${kind}/none`, mapped))
      await assertRejected('not_found', get(`/mappings/${kind}/none`))
      await assertRejected('invalid_parameter', get(`/mappings/${kind}?state=other`))
    }
    const [first, second] = (await get('/mappings/skus?state=mapped&limit=2')).json.data
    await assertRejected('sku_taken', put(`/mappings/skus/${first.skuId}`, { ecommerceSku: second.ecommerceSku }))
  })

  test('mapping checks, fixes and undos match the document', async () => {
    const { get, post, put, assertRejected } = traffic()
    assert.equal((await post('/mappings/check', {})).status, 202)
    await get('/mappings/check')
    for (const kind of ['stores', 'skus', 'customers']) {
      await get(`/mappings/issues/${kind}?limit=1&state=unmapped`)
      await assertRejected('invalid_parameter', get(`/mappings/issues/${kind}?state=other`))
    }
    const [first, other] = (await get('/mappings/skus?state=mapped&limit=2')).json.data
    const created = await post('/mappings/fixes', { kind: 'skus', id: first.skuId, to: 'traffic' })
    assert.equal(created.status, 201, created.text)
    const stale = { kind: 'skus', id: first.skuId, from: first.ecommerceSku, to: 'stale' }
    await assertRejected('mapping_changed', post('/mappings/fixes', stale))
    const undo = `/mappings/fixes/${created.json.data.id}/undo`
    await put(`/mappings/skus/${first.skuId}`, { ecommerceSku: 'changed' })
    await assertRejected('mapping_changed', post(undo, {}))
    await put(`/mappings/skus/${first.skuId}`, { ecommerceSku: 'traffic' })
    assert.equal((await post(undo, {})).status, 200)
    await assertRejected(
      'sku_taken',
      post('/mappings/fixes', { kind: 'skus', id: first.skuId, to: other.ecommerceSku }),
    )
    await assertRejected('not_found', post('/mappings/fixes', { kind: 'stores', id: 'none', to: null }))
    await assertRejected('not_found', post('/mappings/fixes/none/undo', {}))
    await assertRejected('invalid_body', post('/mappings/fixes', { kind: 'stores' }))
    await get('/mappings/fixes?limit=1')
  })

  test('personal data exports and erasures match the document', async () => {
    const { api, get, remove, assertRejected } = traffic()
    const { rows } = await api.db.pool.query('select customer_id as id from reward_account limit 1')
    const path = `/customers/${rows[0].id}`
    const { data } = (await get(`${path}/export`)).json
    assert.ok(data.customer && data.rewardAccount)
    await assertRejected('insufficient_role', remove(path, await api.createAccount('maintainer')))
    assert.equal((await remove(path)).json.data.status, 'erasing')
    assert.equal((await remove(path)).status, 200)
    await assertRejected('not_found', remove('/customers/none'))
    await assertRejected('not_found', get(`${path}/export`))
  })
}
