import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ImportTypeName } from '../../src/import/pipeline/import-types.ts'
import { importTypeNames, openImportShop } from '../support/import-shop.ts'

const shop = await openImportShop()
after(() => shop.close())

/** Two files per type: `stored` is imported before the dry run of `file`. A repeated key starts another batch. */
const files: Record<ImportTypeName, readonly [stored: string, file: string, rejected: number]> = {
  references: ['type,referenceValueId,name\na,1,One', 'type,referenceValueId,name\na,1,Uno\na,2,Two', 0],
  stores: [
    'storeId,storeNumber,name\n1,1,One\n2,2,Two\n3,3,Three',
    'storeId,storeNumber,name\n4,1,Taken\n1,11,One\n1,12,One\n5,11,Released\n6,12,Taken\n2,2,Two\n7,1,Released\n7,1,Same',
    2,
  ],
  staff: [
    'id,code,surname\n1,A,Lee\n2,B,Wu',
    'id,code,surname\n3,A,Taken\n4,C,New\n4,D,New\n5,C,Released\n6,D,Taken\n1,E,Lee\n7,A,Released\n7,A,Same',
    2,
  ],
  products: [
    'productId,productCode,name,colourId,skuId,sku,sizeCode,price\np,P,P,c,k1,E1,S,1\np,P,P,c,k2,E2,M,1',
    'productId,productCode,name,colourId,skuId,sku,sizeCode,price\np,P,P,c,k3,E1,L,1\np,P,P,c,k4,E4,L,1\np,P,P,c,k4,E5,L,1\nq,Q,Q,c,k5,E4,S,1\nq,Q,Q,c,k6,E5,S,1',
    2,
  ],
  stock: [
    'storeNumber,skuId,freeStock\n12,k1,1',
    'storeNumber,skuId,freeStock\n12,k1,2\n404,k1,1\n12,k2,1\n12,none,1',
    2,
  ],
  customers: [
    'id,surname,email\n1,Lee,a@b.example\n2,Wu,w@b.example\n3,Xi,x@b.example\n9,No,n@b.example',
    // Claims a stored email, swaps two emails, and claims emails that an earlier batch claimed or released.
    'id,surname,email\n4,Taken,A@B.example\n2,Wu,x@b.example\n3,Xi,w@b.example\n5,New,new@b.example\n5,New,newer@b.example\n6,Released,new@b.example\n7,Taken,newer@b.example\n9,Moved,m@b.example\n9,Moved,o@b.example\n8,Late,n@b.example\n10,Taken,o@b.example',
    3,
  ],
  transactions: [
    'id,lineId,saleDate,quantity,price,total\nt1,1,2026-01-02T03:04,1,2.00,2.00',
    'id,lineId,saleDate,quantity,price,total\nt2,1,2026-01-02T03:04,1,2.00,3.00\nt3,1,2026-01-02T03:04,1,2.00,2.00\nt4,1,2026-01-02T03:04,1,2.001,2.00',
    1,
  ],
  'reward-programs': [
    'programId,programName,tierId,tierName,tierSequence\n1,One,1,Wool,1',
    'programId,programName,tierId,tierName,tierSequence\n1,One,2,Silk,2\n2,Two,1,Linen,1',
    0,
  ],
  'reward-gifts': ['programId,giftId,name\n1,1,Cap', 'programId,giftId,name\n1,1,Hat\n404,2,Cap\n2,1,Bag', 1],
  'reward-accounts': [
    'id,customerId,programId,tierId\n1,1,1,1',
    'id,customerId,programId,tierId\n2,1,1,1\n3,2,1,1\n3,3,1,1\n4,2,1,1\n5,3,1,1\n6,404,1,1\n7,4,404,1\n8,8,1,9',
    5,
  ],
  'reward-lots': [
    'accountId,kind,lotId,createdAt,total\n1,points,1,2026-01-02,5',
    'accountId,kind,lotId,createdAt,total,redeemed\n1,points,1,2026-01-02,5,1\n404,points,2,2026-01-02,5,0\n1,points,3,2026-01-02,5,6\n1,points,4,2026-01-02,5,0',
    2,
  ],
  'payment-gateways': [
    `name\n${Array.from({ length: 199 }, (_, i) => `gateway${i}`).join('\n')}`,
    'name\ngateway1\npaypal\nvisa',
    1,
  ],
  orders: [
    'orderNumber,customerId,placedAt,total,id,sku,quantity,price\nX1,1,2026-01-02T03:04,2.00,i1,E1,1,2.00',
    'orderNumber,customerId,placedAt,total,id,sku,quantity,price\nX2,1,2026-01-02T03:04,2.00,i1,E1,1,2.00\nX3,404,2026-01-02T03:04,2.00,,E1,1,2.00\nX4,1,2026-01-02T03:04,9.00,,E1,1,2.00\nX5,2,2026-01-02T03:04,2.00,i5,E1,1,2.00\nX1,1,2026-01-02T03:04,4.00,i1,E1,2,2.00',
    3,
  ],
  vouchers: [
    'number,pin,originalAmount,balance,expiryDate\n100001,1234,10.00,5.00,2030-01-01',
    'number,pin,originalAmount,balance,expiryDate\n100001,1234,7.00,5.00,2030-01-01\n100002,1234,10.00,11.00,2030-01-01\n100003,1234,10.00,10.00,2030-01-01\n100003,1234,8.00,8.00,2030-01-01\n100004,1234,10.00,0.00,2030-01-01',
    2,
  ],
  'store-mapping': ['storeId,ecommerceLocationId\n1,77', 'storeId,ecommerceLocationId\n1,78\n404,79', 1],
  'sku-mapping': ['skuId,ecommerceSku\nk1,E1', 'skuId,ecommerceSku\nk1,F1\nk1,G1\nk2,F1\nk4,G1\nk404,H1\nk5,E1', 2],
  'customer-mapping': ['customerId,ecommerceLegacyId\n1,501', 'customerId,ecommerceLegacyId\n1,502\n404,503', 1],
  'ecommerce-locations': ['Location ID,Location\n1,One', 'Location ID,Location\n1,Uno\n2,Two', 0],
  'ecommerce-variants': ['Variant SKU,Handle\nE1,one', 'Variant SKU,Handle\nE1,uno\nE2,two', 0],
  'ecommerce-customers': ['Customer ID,Email\n1,a@b.example', 'Customer ID,Email\n1,b@b.example\n2,c@b.example', 0],
}

for (const type of importTypeNames)
  test(`a dry run of ${type} reports the lines that the import reports`, async () => {
    const [storedFile, file, rejected] = files[type]
    await shop.importFile(type, storedFile)
    const original = await shop.dumpTables()
    const dryRun = await shop.importFile(type, file, { dryRun: true })
    assert.equal(await shop.dumpTables(), original)
    const imported = await shop.importFile(type, file)
    // Only an import removes records that a complete file lacks.
    const summarize = ({ removed: _, notes, ...summary }: typeof imported) => ({
      ...summary,
      canResume: true,
      notes: Object.entries(notes).filter(([text]) => !text.startsWith('removed ')),
    })
    assert.deepEqual(summarize(dryRun), summarize(imported))
    assert.equal(imported.rejected, rejected, imported.rejectedFile ?? '')
  })
