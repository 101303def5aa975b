import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { importAndWait, readData, uploadFile } from '../support/import-and-wait.ts'
import { waitForBlockedConnections } from '../support/postgres/hold-locks.ts'
import { type Caller, startTestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const productHeader = 'productId,productCode,name,colourId,skuId,sizeCode,price\n'
const buildProductLine = (id: string, colour: string, sku: string) => `${id},${id},Name,${colour},${sku},M,1.00\n`
const listProducts = async (caller: Caller) =>
  (await readData(caller, '/products')).map(
    ({ id, colours }: { id: string; colours: { id: string; sizes: unknown[] }[] }) =>
      `${id}: ${colours.map(colour => `${colour.id} ${colour.sizes.length}`).join(', ')}`,
  )
const listRemoved = async (caller: Caller, path: string) =>
  (await readData(caller, `${path}?updated_after=2020-01-01T00:00:00Z&removed=true`))
    .filter(({ removed }: { removed?: boolean }) => removed)
    .map(({ id }: { id: string }) => id)

test('a product that has lost its last SKU leaves the list', async () => {
  const caller = await api.createService()
  await importAndWait(
    caller,
    'products',
    productHeader +
      buildProductLine('A', 'A1', 'S1') +
      buildProductLine('B', 'B1', 'S2') +
      buildProductLine('B', 'B2', 'S3'),
  )
  await importAndWait(
    caller,
    'products',
    productHeader + buildProductLine('C', 'C1', 'S1') + buildProductLine('C', 'C1', 'S2'),
  )
  assert.deepEqual((await listProducts(caller)).sort(), ['B: B2 1', 'C: C1 2'])
  assert.deepEqual(await listRemoved(caller, '/products'), ['A'])
})

test('stock that a complete file lacks becomes 0 in its stores', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'stores', 'storeId,storeNumber,name\n1,001,North\n2,002,South\n')
  await importAndWait(
    caller,
    'products',
    productHeader + buildProductLine('A', 'A1', 'S1') + buildProductLine('A', 'A1', 'S2'),
  )
  await importAndWait(caller, 'stock', 'storeNumber,skuId,freeStock\n001,S1,5\n001,S2,6\n002,S1,7\n')
  const { notes } = await importAndWait(caller, 'stock&complete=true', 'storeNumber,skuId,freeStock\n001,S1,4\n')
  const listLevels = async () =>
    (await readData(caller, '/inventory'))
      .map(({ storeNumber, skuId, freeStock }: Record<string, unknown>) => `${storeNumber} ${skuId} ${freeStock}`)
      .sort()
  assert.deepEqual(await listLevels(), ['001 S1 4', '001 S2 0', '002 S1 7'])
  assert.deepEqual(notes, [{ note: 'stock levels became 0 because they are missing from the file', count: 1 }])
  const rejected = await importAndWait(
    caller,
    'stock&complete=true',
    'storeNumber,skuId,freeStock\n002,S2,x\n001,S2,1\n',
  )
  assert.match(JSON.stringify(rejected.notes), /the file is not complete/)
  assert.deepEqual(await listLevels(), ['001 S1 4', '001 S2 1', '002 S1 7'])
})

test('SKUs and customers that a complete file lacks are removed', async () => {
  const caller = await api.createService()
  await importAndWait(
    caller,
    'products',
    productHeader +
      buildProductLine('A', 'A1', 'S1') +
      buildProductLine('A', 'A2', 'S2') +
      buildProductLine('B', 'B1', 'S3'),
  )
  await importAndWait(caller, 'products&complete=true', productHeader + buildProductLine('A', 'A1', 'S1'))
  assert.deepEqual(await listProducts(caller), ['A: A1 1'])
  assert.deepEqual(await listRemoved(caller, '/products'), ['B'])
  await importAndWait(caller, 'customers', 'id,surname\nC1,One\nC2,Two\n')
  await importAndWait(caller, 'customers&complete=true', 'id,surname\nC1,One\n')
  assert.equal((await caller.get('/customers/C2')).status, 404)
})

test('a customer created while a complete file is imported stays', async t => {
  const caller = await api.createService()
  await importAndWait(caller, 'customers', 'id,surname\nC1,One\nC2,Two\n')
  // The import must wait for this row lock.
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  t.after(() => released.resolve())
  const transaction = api.db.transaction(async tx => {
    await tx.run(sql`select from customer where service_id = ${caller.service.id} and id = 'C1' for update`)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const importing = importAndWait(caller, 'customers&complete=true', 'id,surname\nC1,Changed\n')
  await waitForBlockedConnections(api)
  const created = await post(caller, '/customers', {
    firstname: 'Ann',
    surname: 'New',
    contact: { email: 'new@example.com' },
  })
  assert.equal(created.status, 201, created.text)
  released.resolve()
  await transaction
  assert.equal((await importing).state, 'ok')
  assert.equal((await caller.get(`/customers/${created.json.data.id}`)).status, 200)
  assert.equal((await caller.get('/customers/C2')).status, 404)
})

test('a complete file that lacks more than half removes nothing', async () => {
  const caller = await api.createService()
  const buildLines = (count: number) => Array.from({ length: count }, (_, i) => `C${i},Name\n`).join('')
  await importAndWait(caller, 'customers', `id,surname\n${buildLines(50)}`)
  const file = `id,surname\n${buildLines(20)}`
  const stopped = await importAndWait(caller, 'customers&complete=true', file)
  assert.deepEqual(stopped.notes, [
    {
      note: 'missing from the file, but kept because they are more than half of the list: check the file, or override the stop with --remove-most (API: remove_most)',
      count: 30,
    },
  ])
  assert.equal(stopped.removed, 0)
  const path = 'customers&complete=true&remove_most=true'
  const dryRun = await importAndWait(caller, path, file, { prefer: 'tx=rollback' })
  assert.deepEqual(dryRun.notes, [
    { note: 'customers would be removed because they are missing from the file', count: 30 },
  ])
  assert.equal(dryRun.removed, 30)
  assert.equal((await caller.get('/customers/C49')).status, 200)
  assert.equal((await importAndWait(caller, path, file)).removed, 30)
  assert.equal((await caller.get('/customers/C49')).status, 404)
  const { status, json } = await uploadFile(caller, 'customers&remove_most=true', file)
  assert.deepEqual([status, json.errors[0].parameter], [400, 'remove_most'])
})

test('only stock, products and customers can be complete', async () => {
  const caller = await api.createService()
  const { status, json } = await uploadFile(caller, 'stores&complete=true', 'storeId,storeNumber,name\n1,001,North\n')
  assert.equal(status, 400)
  assert.equal(json.errors[0].parameter, 'complete')
})

test('customers of a file can exchange their emails', async () => {
  const caller = await api.createService()
  const importLines = (lines: string[]) => importAndWait(caller, 'customers', `id,surname,email\n${lines.join('\n')}\n`)
  await importLines([...['a', 'b', 'c', 'd', 'e'].map(id => `${id},Name,${id}@example.com`), 'x,Other,x@example.com'])
  const { rejected, changed, path } = await importLines([
    'a,Name,B@example.com',
    'c,Name,x@example.com',
    'b,Name,a@example.com',
    'd,Name,e@example.com',
    'n,New,d@example.com',
    'e,Name,',
  ])
  assert.deepEqual([rejected, changed], [1, 4], JSON.stringify((await caller.get(`${path}/rejected`)).json))
  const emails = (await readData(caller, '/customers/search')).map(
    ({ id, contact }: { id: string; contact: { email: string | null } }) => `${id} ${contact.email}`,
  )
  assert.deepEqual(emails.sort(), [
    ...['a B@example.com', 'b a@example.com', 'c c@example.com', 'd e@example.com', 'e null'],
    ...['n d@example.com', 'x x@example.com'],
  ])
})

test('the second customer with an email is stored without it if requested', async () => {
  const caller = await api.createService()
  const file = 'id,surname,email\nC1,One,a@example.com\nC2,Two,A@example.com\n'
  assert.equal((await importAndWait(caller, 'customers', file)).rejected, 1)
  const { rejected, notes } = await importAndWait(caller, 'customers&clear_shared_email=true', file)
  assert.equal(rejected, 0)
  assert.deepEqual(notes, [{ note: 'email address of another customer: stored without it', count: 1 }])
  assert.equal((await readData(caller, '/customers/C2')).contact.email, null)
})
