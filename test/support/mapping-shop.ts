import type { Database } from '../../src/database/db.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import type { Caller, TestApi } from './service.ts'

/**
 * Creates a shop without mappings to an e-commerce platform: two stores, a hoodie in two black sizes and one red size,
 * and two customers.
 */
export async function createUnmappedShop(
  { db, createService }: Pick<TestApi, 'db' | 'createService'>,
  settings: Partial<Settings> = {},
): Promise<Caller> {
  const caller = await createService({ writesPerMinute: 'off', readsPerMinute: 'off', ...settings })
  const { service } = caller
  await upsertStores(db, service, [
    { storeId: '1001', storeNumber: '101', name: 'Collins Street' },
    { storeId: '1002', storeNumber: '102', name: 'Bourke Street' },
  ])
  const skus = { 12001: ['BLK', 'S'], 12002: ['BLK', 'M'], 12003: ['RED', 'S'] }
  await upsertProducts(
    db,
    service,
    Object.entries(skus).map(([skuId, [colourId = '', sizeCode]]) => ({
      product: { productId: '5001', productCode: 'MH01', name: 'Hoodie' },
      colour: { productId: '5001', colourId, code: colourId },
      variant: { skuId, productId: '5001', colourId, sizeCode, price: '52.00' },
    })),
  )
  await upsertStock(
    db,
    service,
    ['1001', '1002'].flatMap(storeId => Object.keys(skus).map(skuId => ({ storeId, skuId, freeStock: 7 }))),
  )
  await upsertCustomers(db, service, [
    { id: '65432', firstname: 'John', surname: 'Smith', email: 'john@example.com' },
    { id: '65433', firstname: 'Jane', surname: 'Smith' },
  ])
  return caller
}

/** Adds SKUs in uppercase. Returns the platform's SKUs, which differ only in case: `Sku-007` for `SKU-007`. */
export async function addSkusInCapitals(db: Database, service: Service, count: number): Promise<string[]> {
  const skus = Array.from({ length: count }, (_, i) => `Sku-${String(i).padStart(3, '0')}`)
  await upsertProducts(
    db,
    service,
    skus.map((sku, i) => ({
      product: { productId: '6001', productCode: 'TEE', name: 'Tee' },
      colour: { productId: '6001', colourId: 'BLU', code: 'BLU' },
      variant: { skuId: sku.toUpperCase(), productId: '6001', colourId: 'BLU', sizeCode: String(i), price: '20.00' },
    })),
  )
  return skus
}
