import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { lockStock, moveStock } from '../../src/store/inventory/stock.ts'
import { beginChange } from '../../src/store/lists/change-timestamp.ts'
import { openImportShop } from '../support/import-shop.ts'
import { waitForBlockedConnections } from '../support/postgres/hold-locks.ts'

const shop = await openImportShop()
after(() => shop.close())

/** Subtracts a unit as an order does, starts an import, and commits once the import waits for the order. */
async function importDuringOrder(work: () => Promise<unknown>) {
  let imported: Promise<unknown> | undefined
  await shop.db.transaction(async tx => {
    const moves = [{ storeId: 's1', skuId: 'k1', quantity: -1 }]
    await lockStock(tx, shop.service, moves)
    await moveStock(tx, shop.service, await beginChange(tx, shop.service, ['stock']), moves)
    imported = work()
    await waitForBlockedConnections(shop)
  })
  await imported
}

test("an order's stock change survives a concurrent rendering", async () => {
  await shop.importFile('stores', 'storeId,storeNumber,name\ns1,101,One\n')
  await shop.importFile('products', 'productId,productCode,name,colourId,skuId,sizeCode,price\np,P,P,c,k1,S,1\n')
  await shop.importFile('stock', 'storeNumber,skuId,freeStock\n101,k1,10\n')
  await importDuringOrder(() => shop.importFile('store-mapping', 'storeId,ecommerceLocationId\ns1,L1\n'))
  await importDuringOrder(() => shop.importFile('sku-mapping', 'skuId,ecommerceSku\nk1,E1\n'))
  const [stock] = await shop.queryRows('select free_stock::float, record from stock')
  const { freeStock, ecommerceLocationId, sku } = JSON.parse(stock.record)
  assert.deepEqual([stock.free_stock, freeStock, ecommerceLocationId, sku], [8, 8, 'L1', 'E1'])
})
