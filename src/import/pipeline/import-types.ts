import type { Db } from '../../database/db.ts'
import { ProductRow, SkuMappingRow } from '../../domain/catalog/products.ts'
import { ReferenceRow } from '../../domain/catalog/references.ts'
import { StaffRow } from '../../domain/catalog/staff.ts'
import { StoreMappingRow, StoreRow } from '../../domain/catalog/stores.ts'
import { CustomerMappingRow, CustomerRow } from '../../domain/customers/customers.ts'
import { StockRow } from '../../domain/inventory/stock-level.ts'
import { issueColumns } from '../../domain/mappings/issue-csv.ts'
import { TransactionRow } from '../../domain/orders/transactions.ts'
import { RewardAccountRow, RewardGiftRow, RewardLotRow, RewardProgramRow } from '../../domain/rewards/rewards.ts'
import { PaymentGatewayRow } from '../../domain/tenancy/gateways.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { upsertProducts } from '../../store/catalog/products.ts'
import { upsertReferences } from '../../store/catalog/references.ts'
import { findSkus } from '../../store/catalog/skus.ts'
import { findStaffByCode, upsertStaff } from '../../store/catalog/staff.ts'
import { findStoresByNumber, upsertStores } from '../../store/catalog/stores.ts'
import {
  findCustomersByEmail,
  findEmailExchanges,
  mapCustomers,
  upsertCustomers,
} from '../../store/customers/customers.ts'
import { upsertStock } from '../../store/inventory/stock.ts'
import { openMappingImport } from '../../store/mappings/platform-items.ts'
import { mapSkus } from '../../store/mappings/writes.ts'
import { upsertTransactions } from '../../store/orders/transactions.ts'
import {
  findRewardAccounts,
  upsertGifts,
  upsertPrograms,
  upsertRewardAccounts,
  upsertRewardLots,
} from '../../store/rewards/rewards.ts'
import { upsertGateways } from '../../store/tenancy/gateways.ts'
import { ecommerceTypes } from './ecommerce-types.ts'
import type { ImportType } from './import-type.ts'
import { prepareUnchanged } from './ingest.ts'
import {
  listImpliedConsent,
  toCustomerInput,
  toCustomerMappingInput,
  toProductInput,
  toProgramInput,
} from './inputs.ts'
import { orders, vouchers } from './onboarding-types.ts'
import {
  addReferencesFirst,
  prepareCustomerMappings,
  prepareGateways,
  prepareSkuMappings,
  prepareStock,
  prepareStoreMappings,
  prepareTransactions,
  translateEach,
  translateWithReferences,
} from './prepare.ts'
import {
  checkLot,
  checkSku,
  checkTransaction,
  createNonNegativeCheck,
  listProductDoubts,
  listSaleDoubts,
} from './rules.ts'

const inStock = 'Stock levels that show it are updated too. More than 2,000 of them follow within seconds.'

/** Folds an email address for `claims`. Coarser than the unique index, so that equal addresses always collide. */
const foldEmail = (email: string) => email.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()

const findSkuOwners = async (db: Db, service: Service, skus: readonly string[]) =>
  (await findSkus(db, service, skus)).map(({ skuId }) => `SKU ${skuId}`)

/** Columns of the mapping check's CSV that an import ignores. */
const mappingImport = { ignoredColumns: issueColumns, open: openMappingImport }
const adminOnly = { role: 'admin' } as const

/** The import types, in the recommended order. */
export const importTypes = {
  references: {
    description: 'One value that a reference of customers or products can have.',
    shape: ReferenceRow,
    key: ['type', 'referenceValueId'],
    prepare: prepareUnchanged,
    write: upsertReferences,
    examples: [{}, { type: 'interest', referenceValueId: '12', code: '', name: 'Running' }],
  },
  stores: {
    description: 'One store.',
    open: openMappingImport,
    remarks: inStock,
    shape: StoreRow,
    key: ['storeId'],
    pathColumns: ['storeId', 'storeNumber'],
    prepare: prepareUnchanged,
    write: upsertStores,
    claims: ({ storeId, storeNumber }) => [`store ${storeId}`, `number ${storeNumber}`],
    findOwners: async (db, service, inputs) => {
      const numbers = inputs.map(({ storeNumber }) => storeNumber)
      return (await findStoresByNumber(db, service, numbers)).map(({ store_id }) => `store ${store_id}`)
    },
    adminColumns: ['ecommerceLocationId', 'inventoryBuffer'],
    keptIfEmpty: ['kind'],
    list: 'store',
    examples: [{}, { storeId: '1002', storeNumber: '008', name: 'Bourke Street', ecommerceLocationId: '6884556843' }],
  },
  staff: {
    description: 'One member of the staff.',
    shape: StaffRow,
    key: ['id'],
    pathColumns: ['id'],
    prepare: prepareUnchanged,
    write: upsertStaff,
    claims: ({ id, code }) => [`staff ${id}`, `code ${code}`],
    findOwners: async (db, service, inputs) => {
      const codes = inputs.map(({ code }) => code)
      return (await findStaffByCode(db, service, codes)).map(({ id }) => `staff ${id}`)
    },
    list: 'staff',
    examples: [{}, { id: '78', code: 'MLEE', surname: 'Lee', active: 'false' }],
  },
  products: {
    description: 'One colour and size. Repeat the fields of the product in each of its lines.',
    open: openMappingImport,
    remarks: `${inStock} If \`sku\` is missing, the e-commerce SKU is the \`skuId\`. If \`originalPrice\` is missing, it is the \`price\`.`,
    shape: ProductRow,
    key: ['skuId'],
    separateColumns: ['productId', 'colourId'],
    pathColumns: ['productId', 'skuId'],
    together: 'productId',
    keptIfEmpty: ['sku', 'originalPrice'],
    adminColumns: ['sku', 'ecommerceProductId'],
    rule: createNonNegativeCheck('price', 'originalPrice'),
    listDoubts: listProductDoubts,
    prepare: translateWithReferences(toProductInput),
    write: addReferencesFirst(upsertProducts),
    claims: ({ variant: { productId, skuId, sku = skuId } }) => [
      `product ${productId}`,
      `SKU ${skuId}`,
      `named ${sku}`,
    ],
    findOwners: (db, service, inputs) =>
      findSkuOwners(
        db,
        service,
        inputs.map(({ variant: { skuId, sku = skuId } }) => sku),
      ),
    list: 'product',
    complete: { list: 'variant', getId: ({ variant: { skuId } }) => skuId },
    examples: [{}, { skuId: '12002', sku: 'MH01-S-Black', sizeCode: 'S', sequence: '2', barcode: '9300000000002' }],
  },
  stock: {
    description: 'The free stock of one SKU in one store.',
    remarks: 'A line names its SKU by `sku` or `skuId`. If it has both, `skuId` applies.',
    shape: StockRow,
    key: ['storeNumber', 'sku', 'skuId'],
    rule: checkSku,
    prepare: prepareStock,
    write: upsertStock,
    claims: ({ storeId, skuId }) => [`${storeId}\0${skuId}`],
    adminColumns: ['buffer'],
    list: 'stock',
    complete: { list: 'stock', getId: ({ storeId, skuId }) => `${storeId} ${skuId}` },
    examples: [{}, { sku: 'MH01-S-Black', skuId: '12002', freeStock: '-2' }],
  },
  customers: {
    description: 'One customer.',
    open: openMappingImport,
    remarks:
      'A subscription in the line sets `privacy` to false. Otherwise, `privacy` true ends both subscriptions, even if the line does not name them.',
    shape: CustomerRow,
    key: ['id'],
    pathColumns: ['id'],
    listImplied: listImpliedConsent,
    prepare: translateWithReferences(toCustomerInput),
    write: addReferencesFirst(upsertCustomers),
    exchanges: { constraint: 'customer_email', findGroups: findEmailExchanges },
    claims: ({ id, email }) => [`customer ${id}`, ...(email ? [`email ${foldEmail(email)}`] : [])],
    findOwners: async (db, service, inputs) => {
      const emails = inputs.flatMap(({ email }) => email ?? [])
      return (await findCustomersByEmail(db, service, emails)).map(({ id }) => `customer ${id}`)
    },
    list: 'customer',
    complete: { list: 'customer', getId: ({ id }) => id },
    examples: [
      {},
      {
        id: '73152',
        firstname: 'Mary',
        surname: 'Lee',
        email: 'mary.lee@example.com',
        ecommerceLegacyId: '6477890125897',
      },
    ],
  },
  transactions: {
    description: 'One line of a transaction. Repeat the fields of the transaction in each of its lines.',
    remarks:
      'A line with the same `id` and `lineId` is replaced. The other lines of its transaction stay. If lines of one `id` differ in sale date, store or customer, the later one applies, and the run has a note. A SKU of no product becomes null. If `value` is missing, it is quantity times price minus the discount. If a line has `total`, the lines of the transaction must add up to it and follow each other. Otherwise, all of them are rejected. A discount needs a `discountAmount`. The default `discountType` is `discount`.',
    shape: TransactionRow,
    key: [],
    documentedKey: ['id', 'lineId'],
    together: 'id',
    rule: checkTransaction,
    listDoubts: listSaleDoubts,
    prepare: prepareTransactions,
    write: upsertTransactions,
    claims: ({ header }) => [header.id],
    list: 'retail_transaction',
    examples: [
      { storeNumber: '123', total: '-4.00' },
      {
        lineId: '15883',
        sequence: '2',
        sku: 'MH01-S-Black',
        skuId: '12002',
        sizeCode: 'S',
        quantity: '-1',
        value: '',
        discountType: '',
        discountReason: '',
        discountAmount: '',
        discountPercentage: '',
      },
    ],
  },
  'reward-programs': {
    description: 'One tier of a reward program. Repeat the fields of the program in each of its tiers.',
    shape: RewardProgramRow,
    key: ['programId', 'tierId'],
    together: 'programId',
    rule: createNonNegativeCheck('accrualSpend', 'autoRewardValue', 'qualifySpend'),
    prepare: translateEach(toProgramInput),
    write: upsertPrograms,
    examples: [{}, { tierId: '3', tierName: 'Cashmere', tierSequence: '3' }],
  },
  'reward-gifts': {
    description: 'One gift of a reward program.',
    shape: RewardGiftRow,
    key: ['programId', 'giftId'],
    prepare: prepareUnchanged,
    write: upsertGifts,
    examples: [{}, { giftId: '22', name: 'Umbrella', styles: 'MB07' }],
  },
  'reward-accounts': {
    description: 'The reward account of one customer.',
    shape: RewardAccountRow,
    key: ['id'],
    pathColumns: ['id'],
    keptIfEmpty: ['qualifyingSpend'],
    prepare: prepareUnchanged,
    write: upsertRewardAccounts,
    claims: ({ id, customerId }) => [`account ${id}`, `customer ${customerId}`],
    findOwners: async (db, service, inputs) => {
      const customers = inputs.map(({ customerId }) => customerId)
      return (await findRewardAccounts(db, service, customers)).map(({ id }) => `account ${id}`)
    },
    examples: [{}, { id: '22673', customerId: '65432' }],
  },
  'reward-lots': {
    description: 'Points, a reward or a gift of a reward account, issued at one time.',
    shape: RewardLotRow,
    key: ['accountId', 'kind', 'lotId'],
    keptIfEmpty: ['redeemed', 'pending'],
    rule: checkLot,
    prepare: prepareUnchanged,
    write: upsertRewardLots,
    examples: [{ giftId: '' }, { kind: 'gift', lotId: '42182', total: '1', giftId: '21' }],
  },
  'payment-gateways': {
    description: 'One payment gateway.',
    ...adminOnly,
    shape: PaymentGatewayRow,
    key: ['name'],
    prepare: prepareGateways,
    write: upsertGateways,
    examples: [{}, { name: 'afterpay' }],
  },
  orders,
  vouchers,
  'store-mapping': {
    description: 'The e-commerce location of one store.',
    remarks: inStock,
    ...adminOnly,
    shape: StoreMappingRow,
    key: ['storeId'],
    prepare: prepareStoreMappings,
    ...mappingImport,
    write: upsertStores,
    examples: [{}, { storeId: '1002', ecommerceLocationId: '6884556843' }],
  },
  'sku-mapping': {
    description: 'The e-commerce SKU of one SKU.',
    remarks: inStock,
    ...adminOnly,
    shape: SkuMappingRow,
    key: ['skuId'],
    nullableColumn: 'ecommerceSku',
    prepare: prepareSkuMappings,
    ...mappingImport,
    write: mapSkus,
    claims: ({ skuId, ecommerceSku }) => [`SKU ${skuId}`, `named ${ecommerceSku ?? skuId}`],
    findOwners: (db, service, inputs) =>
      findSkuOwners(
        db,
        service,
        inputs.map(({ skuId, ecommerceSku }) => ecommerceSku ?? skuId),
      ),
    examples: [{}, { skuId: '12002', ecommerceSku: 'MH01-S-Black' }],
  },
  // Maintainers can import these, because `PUT /customers/:id` accepts the same identifiers.
  'customer-mapping': {
    description: 'The e-commerce identifiers of one customer.',
    shape: CustomerMappingRow,
    key: ['customerId'],
    prepare: prepareCustomerMappings(toCustomerMappingInput),
    ...mappingImport,
    write: mapCustomers,
    examples: [{}, { customerId: '73152', ecommerceLegacyId: '6477890125897' }],
  },
  ...ecommerceTypes,
} as const satisfies Record<string, ImportType>

export type ImportTypeName = keyof typeof importTypes

/** Returns the import type of this name, or undefined. */
export const findImportType = (name: string): ImportType | undefined =>
  Object.hasOwn(importTypes, name) ? importTypes[name as ImportTypeName] : undefined
