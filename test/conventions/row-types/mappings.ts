import assert from 'node:assert/strict'
import { ecommerceTypes } from '../../../src/import/pipeline/ecommerce-types.ts'
import { checkMappings } from '../../../src/store/mappings/check-all.ts'
import type { TestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

/** Checks mappings, applies fixes, and undoes them. */
export async function tourMappings(api: TestApi) {
  const { db, service } = api
  const { open, write } = ecommerceTypes['ecommerce-locations']
  const end = await open(db, service)
  await write(db, service, [{ itemKey: '1', ecommerceId: '1', name: 'Toured', other: 'Toured' }])
  await end({ isComplete: true, hasImportedLines: true })
  await checkMappings(db, service)
  const [store] = (await api.get('/mappings/issues/stores')).json.data
  for (const to of ['2', '1']) {
    const fix = await post(api, '/mappings/fixes', { kind: 'stores', id: store.id, to })
    assert.equal(fix.status, 201, fix.text)
    assert.equal((await post(api, `/mappings/fixes/${fix.json.data.id}/undo`, {})).status, 200)
  }
  await acceptSuggestion(api)
  for (const path of ['check', 'issues/skus', 'issues/customers', 'fixes'])
    assert.equal((await api.get(`/mappings/${path}`)).status, 200)
}

/** Accepts a sure suggestion as a batch and undoes it. */
async function acceptSuggestion(api: TestApi) {
  const { db, service } = api
  const [sku] = (await api.get('/mappings/skus?state=unmapped')).json.data
  const { open, write } = ecommerceTypes['ecommerce-variants']
  const end = await open(db, service)
  await write(db, service, [{ itemKey: 'near', ecommerceId: ` ${sku.skuId} `, name: 'Near', other: '' }])
  await end({ isComplete: true, hasImportedLines: true })
  await checkMappings(db, service)
  const path = '/console/mappings'
  assert.equal((await api.get(`${path}/skus/items?q=near`)).json.data.length, 1)
  assert.equal((await api.get(`${path}/skus/suggestions`)).json.data.rows.length, 1)
  const batch = await post(api, `${path}/batches`, { kind: 'skus' })
  assert.equal(batch.json.data.changed, 1, batch.text)
  assert.equal((await api.get(`${path}/batches`)).json.data.length, 1)
  assert.equal((await post(api, `${path}/batches/${batch.json.data.id}/undo`, {})).status, 200)
}
