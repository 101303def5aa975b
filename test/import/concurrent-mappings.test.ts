import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { Db } from '../../src/database/db.ts'
import { mergeReferences } from '../../src/store/catalog/references.ts'
import { mergeStores } from '../../src/store/catalog/stores.ts'
import { lockMapping } from '../../src/store/mappings/mappings.ts'
import { mapSku, mapSkus } from '../../src/store/mappings/writes.ts'
import { openImportShop } from '../support/import-shop.ts'
import { waitForBlockedConnections } from '../support/postgres/hold-locks.ts'

const shop = await openImportShop()
after(() => shop.close())

/** Starts a write, imports a file that must wait for it, then runs `finish` in the transaction of the write. */
async function importDuring(
  write: (tx: Db) => Promise<unknown>,
  fileArgs: [string, string],
  finish = async (_: Db) => {},
) {
  let imported: Promise<unknown> | undefined
  await shop.db.transaction(async tx => {
    await write(tx)
    imported = shop.importFile(...fileArgs)
    await waitForBlockedConnections(shop)
    await finish(tx)
  })
  await imported
}

const loadRecord = async (table: 'product' | 'stock') =>
  JSON.parse((await shop.queryRows(`select record from ${table} order by 1`))[0].record)

const header = 'productId,productCode,name,references,colourId,colourName,skuId,sizeCode,price\n'
beforeEach(async () => {
  await shop.queryRows('delete from stock')
  await shop.importFile('stores', 'storeId,storeNumber,name,ecommerceLocationId\ns1,101,One,\n')
  await shop.importFile('references', 'type,referenceValueId,code,name\nbrand,b1,B,Barker\n')
  await shop.importFile('products', `${header}p,P,P,brand=b1,c,Red,k1,S,1\n`)
  await mapSkus(shop.db, shop.service, [{ skuId: 'k1', ecommerceSku: null, ecommerceProductId: null }])
  await shop.importFile('stock', 'storeNumber,skuId,freeStock\n101,k1,10\n')
})

test('a price imported during a brand rename shows the new name', async () => {
  await importDuring(
    tx => mergeReferences(tx, shop.service, [{ type: 'brand', referenceValueId: 'b1', code: 'B', name: 'Corbett' }]),
    ['products', `${header}p,P,P,brand=b1,c,Red,k1,S,2\n`],
  )
  const { references, colours } = await loadRecord('product')
  assert.deepEqual([references.brand.name, colours[0].sizes[0].price], ['Corbett', '2.00'])
})

test('a colour renamed during mapping keeps all mappings without deadlock', async () => {
  await importDuring(
    async tx => {
      await lockMapping(tx, shop.service, 'skus', 'k1')
      await mapSku(tx, shop.service, { skuId: 'k1', ecommerceProductId: 'E7' })
    },
    ['products', `${header}p,P,P,brand=b1,c,Scarlet,k1,S,2\n`],
    async tx => assert.ok(await mapSku(tx, shop.service, { skuId: 'k1', ecommerceSku: 'E1' })),
  )
  const [{ name, ecommerceProductId, sizes }] = (await loadRecord('product')).colours
  assert.deepEqual([name, ecommerceProductId, sizes[0].ecommerceSku, sizes[0].price], ['Scarlet', 'E7', 'E1', '2.00'])
})

for (const state of ['is there', 'is new'] as const)
  test(`stock that ${state} and is imported during mapping shows both changes`, async () => {
    if (state === 'is new') await shop.queryRows('delete from stock')
    const file: [string, string] = ['stock', 'storeNumber,skuId,freeStock\n101,k1,12\n']
    await importDuring(tx => mergeStores(tx, shop.service, [{ storeId: 's1', ecommerceLocationId: 'L1' }]), file)
    file[1] = file[1].replace('12', '13')
    if (state === 'is new') await shop.queryRows('delete from stock')
    await importDuring(tx => mapSku(tx, shop.service, { skuId: 'k1', ecommerceSku: 'E1' }), file)
    const { freeStock, sku, ecommerceLocationId } = await loadRecord('stock')
    assert.deepEqual([freeStock, sku, ecommerceLocationId], [13, 'E1', 'L1'])
  })
