/** A file of a kind: its heading, a line of it, and the tables that its lines fill. The values depend on `round`. */
export interface File {
  kind: string
  head: string
  line: (i: number, round: number) => string
  /** Tables that COPY fills for comparison; empty if the import only changes rows. */
  tables: readonly string[]
}

/** Stores that have stock; the others have none. */
export const stores = 50
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
    line: (i, round) => `${i % stores},k${Math.floor(i / stores)},${(i % 40) + round}`,
    tables: ['stock'],
  },
  {
    kind: 'customers',
    head: 'id,code,firstname,surname,email,phoneMobile,addressLine1,city,state,postcode,country,joinedStoreId',
    line: (i, round) =>
      `${i},C${i},Olivia,Nguyen,olivia.${i}@example.com,+61 400 ${i},${round} Collins Street,Melbourne,VIC,3000,Australia,s${i % stores}`,
    tables: ['customer'],
  },
  {
    kind: 'transactions',
    head: 'id,number,saleDate,customerId,storeNumber,lineId,sequence,skuId,productCode,productName,quantity,price',
    line: (i, round) =>
      `t${i >> 1},R${i >> 1},2024-05-26 12:00:00,${i >> 1},${(i >> 1) % stores},${i},${(i & 1) + 1},k${i % 1_000},P1,Hoodie,1,5${round}.00`,
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

/** Types with millions of lines. */
export const large = ['products', 'stock', 'customers', 'transactions']
