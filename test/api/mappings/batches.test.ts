import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importAndWait } from '../../support/import-and-wait.ts'
import { addSkusInCapitals, createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import type { Caller } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'
import { checkMappings, startWithWorker } from './checked-shop.ts'
import { buildCustomerExport, buildProductExport } from './shopify.ts'

const api = await startWithWorker()

const path = '/console/mappings/batches'
const skuCount = 230

async function createNearlyMappedShop(): Promise<Caller> {
  const caller = await createUnmappedShop(api)
  const skus = await addSkusInCapitals(api.db, caller.service, skuCount)
  await importAndWait(caller, 'ecommerce-variants', buildProductExport(skus.map((sku, i) => [String(i), sku])))
  await checkMappings(caller)
  return caller
}

const readStates = async (caller: Caller) =>
  (await caller.get('/mappings/check')).json.data.find(({ kind }: { kind: string }) => kind === 'skus').states
const readSku = async (caller: Caller, id: string) => (await caller.get(`/mappings/skus/${id}`)).json.data.ecommerceSku

interface Part {
  id: string
  changed: number
  skipped: number
  next: string | null
}

/** Sends the parts of a batch until it is complete. */
async function sendParts(caller: Caller, to: string, toBody: (part?: Part) => object): Promise<Part[]> {
  const parts: Part[] = []
  do {
    const { status, json, text } = await post(caller, to, toBody(parts.at(-1)))
    assert.equal(status, 200, text)
    parts.push(json.data)
  } while (parts.at(-1)?.next)
  return parts
}
const acceptAll = (caller: Caller) =>
  sendParts(caller, path, part => ({ kind: 'skus', ...(part && { batch: part.id, after: part.next }) }))
const undoAll = (caller: Caller, id: string) =>
  sendParts(caller, `${path}/${id}/undo`, part => (part ? { after: part.next } : {}))
const sum = (parts: Part[], field: 'changed' | 'skipped') => parts.reduce((total, part) => total + part[field], 0)

test('sure suggestions are previewed, accepted as one batch and undone together', async () => {
  const caller = await createNearlyMappedShop()
  assert.equal((await readStates(caller)).nearMatch, skuCount)
  const preview = (await caller.get('/console/mappings/skus/suggestions')).json.data
  assert.deepEqual(preview.reasons, [{ reason: 'case', count: skuCount }])
  assert.equal(preview.rows.length, 10)
  assert.deepEqual(
    [preview.rows[0].id, preview.rows[0].from, preview.rows[0].to],
    ['SKU-000', null, 'Sku-000'],
    JSON.stringify(preview.rows[0]),
  )

  const parts = await acceptAll(caller)
  assert.ok(parts.length > 1)
  assert.equal(new Set(parts.map(part => part.id)).size, 1)
  assert.deepEqual([sum(parts, 'changed'), sum(parts, 'skipped')], [skuCount, 0])
  const states = await readStates(caller)
  assert.deepEqual([states.matched, states.nearMatch], [skuCount, 0])
  assert.equal(await readSku(caller, 'SKU-007'), 'Sku-007')

  const [{ id = '' } = {}] = parts
  const [batch] = (await caller.get(path)).json.data
  assert.deepEqual([batch.id, batch.kind, batch.fixes, batch.undone], [id, 'skus', skuCount, 0])
  assert.equal(batch.username, caller.username)
  const entries = (await caller.get(`/audit?record=${path}/${id}`)).json.data
  assert.equal(entries.length, parts.length, 'one audit entry for each part')

  await put(caller, '/mappings/skus/SKU-007', { ecommerceSku: 'theirs' })
  const undoneParts = await undoAll(caller, id)
  assert.deepEqual([sum(undoneParts, 'changed'), sum(undoneParts, 'skipped')], [skuCount - 1, 1])
  assert.equal(await readSku(caller, 'SKU-007'), 'theirs')
  assert.equal(await readSku(caller, 'SKU-008'), null)
  assert.equal((await readStates(caller)).nearMatch, skuCount)
  assert.equal((await caller.get(path)).json.data[0].undone, skuCount - 1)
  assert.equal(sum(await undoAll(caller, id), 'changed'), 0, 'a second undo changes nothing')
})

test('suggestions with several candidates or records are not sure', async () => {
  const caller = await createUnmappedShop(api)
  for (const [id, sku] of [
    ['12001', 'one-a'],
    ['12002', 'ONE-A'],
    ['12003', 'two-b'],
  ])
    await put(caller, `/mappings/skus/${id}`, { ecommerceSku: sku })
  await importAndWait(
    caller,
    'ecommerce-variants',
    buildProductExport([
      ['S', 'One-A'],
      ['M', 'Two-B'],
      ['L', 'TWO-B'],
    ]),
  )
  await checkMappings(caller)
  assert.equal((await readStates(caller)).nearMatch, 3)
  assert.deepEqual((await caller.get('/console/mappings/skus/suggestions')).json.data, { reasons: [], rows: [] })
  assert.equal(sum(await acceptAll(caller), 'changed'), 0)
  assert.equal(await readSku(caller, '12001'), 'one-a')
})

test('a dry run changes nothing, and batches belong to one service', async () => {
  const caller = await createNearlyMappedShop()
  const headers = { 'content-type': 'application/json', prefer: 'tx=rollback' }
  const dryRun = await caller.request(path, { method: 'POST', headers, body: JSON.stringify({ kind: 'skus' }) })
  assert.equal(dryRun.json.data.changed, 100, dryRun.text)
  assert.equal(dryRun.json.data.id, null)
  assert.equal((await readStates(caller)).nearMatch, skuCount)
  const [{ id = '' } = {}] = await acceptAll(caller)
  const other = await api.createService()
  assertProblem(await post(other, `${path}/${id}/undo`, {}), 'not_found', api.baseUrl)
  assertProblem(await post(other, path, { kind: 'skus', batch: id }), 'not_found', api.baseUrl)
  assertProblem(await post(caller, path, { kind: 'stores', batch: id }), 'not_found', api.baseUrl)
  assert.deepEqual((await other.get(path)).json.data, [])
})

test('platform items are found by identifier, name and email', async () => {
  const caller = await createUnmappedShop(api)
  await importAndWait(
    caller,
    'ecommerce-customers',
    buildCustomerExport([
      ['9001', 'john@example.com'],
      ['9002', 'mary@example.org'],
    ]),
  )
  await put(caller, '/mappings/customers/65432', { ecommerceLegacyId: '9001' })
  const findItems = async (q: string, reader = caller) =>
    (await reader.get(`/console/mappings/customers/items?q=${encodeURIComponent(q)}`)).json.data.map(
      ({ id, isMapped }: { id: string; isMapped: boolean }) => [id, isMapped],
    )
  const bothItems = [
    ['9001', true],
    ['9002', false],
  ]
  assert.deepEqual(await findItems('900'), bothItems)
  assert.deepEqual(await findItems('EXAMPLE.ORG'), [['9002', false]])
  assert.deepEqual(await findItems('nothing like it'), [])
  assert.deepEqual(await findItems('900', await api.createService()), [])
  assertProblem(await caller.get('/console/mappings/shoes/items?q=9'), 'not_found', api.baseUrl)
})
