/** A file of a kind: its heading, a line of it, and the tables that its lines fill. `turn` makes it say something else. */
export interface File {
  kind: string
  head: string
  line: (i: number, turn: number) => string
  /** Tables that COPY fills for comparison; empty if the import only changes rows. */
  tables: readonly string[]
}

/** Stores that have stock; the others have none. */
export const stores = 50
export const files: readonly File[] = [
  {
    kind: 'stores',
    head: 'storeId,storeNumber,name,city',
    line: (i, turn) => `s${i},${i},Store ${i},City ${turn}`,
    tables: ['store'],
  },
  {
    kind: 'products',
    head: 'productId,productCode,name,colourId,colourCode,colourName,skuId,sizeCode,sequence,price,barcode',
    line: (i, turn) =>
      `p${i >> 3},P${i >> 3},Hoodie ${i >> 3},c${(i >> 2) & 1},BLK,Black,k${i},${i & 3},${i & 3},5${turn}.00,93${i}`,
    tables: ['product', 'colour', 'variant'],
  },
  {
    kind: 'stock',
    head: 'storeNumber,skuId,freeStock',
    line: (i, turn) => `${i % stores},k${Math.floor(i / stores)},${(i % 40) + turn}`,
    tables: ['stock'],
  },
  {
    kind: 'customers',
    head: 'id,code,firstname,surname,email,phoneMobile,addressLine1,city,state,postcode,country,joinedStoreId',
    line: (i, turn) =>
      `${i},C${i},Olivia,Nguyen,olivia.${i}@example.com,+61 400 ${i},${turn} Collins Street,Melbourne,VIC,3000,Australia,s${i % stores}`,
    tables: ['customer'],
  },
  {
    kind: 'transactions',
    head: 'id,number,saleDate,customerId,storeNumber,lineId,sequence,skuId,productCode,productName,quantity,price',
    line: (i, turn) =>
      `t${i >> 1},R${i >> 1},2024-05-26 12:00:00,${i >> 1},${(i >> 1) % stores},${i},${(i & 1) + 1},k${i % 1_000},P1,Hoodie,1,5${turn}.00`,
    tables: ['retail_transaction'],
  },
  {
    kind: 'customer-mapping',
    head: 'customerId,ecommerceAdminId,ecommerceLegacyId',
    line: (i, turn) => `${i},gid://shop/Customer/${turn}${i},${turn}${i}`,
    tables: [],
  },
  {
    kind: 'sku-mapping',
    head: 'skuId,ecommerceSku',
    line: (i, turn) => `k${i},E${turn}-${i}`,
    tables: [],
  },
  {
    kind: 'store-mapping',
    head: 'storeId,ecommerceLocationId',
    line: (i, turn) => `s${i},L${turn}-${i}`,
    tables: [],
  },
]

/** The kinds that come by the million. */
export const large = ['products', 'stock', 'customers', 'transactions']
