/** A generated file of one import type. The values of a line depend on `round`, so that another round changes all lines. */
export interface File {
  kind: string
  head: string
  line: (i: number, round: number) => string
  /** Tables that COPY fills for comparison; empty if the import only changes rows. */
  tables: readonly string[]
}

/** Number of stores that have stock. */
export const storeCount = 50
export const files: readonly File[] = [
  {
    kind: 'stores',
    head: 'storeId,storeNumber,name,city',
    line: (i, round) => `s${i},${i},Store ${i},City ${round}`,
    tables: ['store'],
  },
  {
    kind: 'products',
    head: 'productId,productCode,name,colourId,colourCode,colourName,skuId,sizeCode,sequence,price,barcode',
    line: (i, round) =>
      `p${i >> 3},P${i >> 3},Hoodie ${i >> 3},c${(i >> 2) & 1},BLK,Black,k${i},${i & 3},${i & 3},5${round}.00,93${i}`,
    tables: ['product', 'colour', 'variant'],
  },
  {
    kind: 'stock',
    head: 'storeNumber,skuId,freeStock',
    line: (i, round) => `${i % storeCount},k${Math.floor(i / storeCount)},${(i % 40) + round}`,
    tables: ['stock'],
  },
  {
    kind: 'customers',
    head: 'id,code,firstname,surname,email,phoneMobile,addressLine1,city,state,postcode,country,joinedStoreId',
    line: (i, round) =>
      `${i},C${i},Olivia,Nguyen,olivia.${i}@example.com,+61 400 ${i},${round} Collins Street,Melbourne,VIC,3000,Australia,s${i % storeCount}`,
    tables: ['customer'],
  },
  {
    kind: 'transactions',
    head: 'id,number,saleDate,customerId,storeNumber,lineId,sequence,skuId,productCode,productName,quantity,price',
    line: (i, round) =>
      `t${i >> 1},R${i >> 1},2024-05-26 12:00:00,${i >> 1},${(i >> 1) % storeCount},${i},${(i & 1) + 1},k${i % 1_000},P1,Hoodie,1,5${round}.00`,
    tables: ['retail_transaction'],
  },
  {
    kind: 'customer-mapping',
    head: 'customerId,ecommerceAdminId,ecommerceLegacyId',
    line: (i, round) => `${i},gid://shop/Customer/${round}${i},${round}${i}`,
    tables: [],
  },
  {
    kind: 'sku-mapping',
    head: 'skuId,ecommerceSku',
    line: (i, round) => `k${i},E${round}-${i}`,
    tables: [],
  },
  {
    kind: 'store-mapping',
    head: 'storeId,ecommerceLocationId',
    line: (i, round) => `s${i},L${round}-${i}`,
    tables: [],
  },
]

/** Import types of which a retailer has millions of lines. */
export const largeKinds = ['products', 'stock', 'customers', 'transactions']
