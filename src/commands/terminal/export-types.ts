import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { readProductPage } from '../../store/catalog/products.ts'
import { readReferencePage } from '../../store/catalog/references.ts'
import { readStaffPage } from '../../store/catalog/staff.ts'
import { readStorePage } from '../../store/catalog/stores.ts'
import { readCustomerPage } from '../../store/customers/customers.ts'
import { readStockPage } from '../../store/inventory/stock-records.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { readMappingPage } from '../../store/mappings/mappings.ts'
import { readTransactionPage } from '../../store/orders/transactions.ts'

interface ExportType {
  table: ReturnType<typeof sql>
  page: (db: Db, service: Service, page: PageRequest) => Promise<Page>
}

/** The lists that can be exported, by their import types, in the order in which a service must import them. */
export const exportTypes = {
  references: { table: sql`reference`, page: readReferencePage },
  stores: { table: sql`store`, page: (db, service, page) => readStorePage(db, service, {}, page) },
  staff: { table: sql`staff`, page: (db, service, page) => readStaffPage(db, service, {}, page) },
  products: { table: sql`product`, page: (db, service, page) => readProductPage(db, service, {}, page) },
  stock: { table: sql`stock`, page: (db, service, page) => readStockPage(db, service, {}, page) },
  customers: {
    table: sql`customer`,
    page: (db, service, page) => readCustomerPage(db, service, { ecommerceIds: true }, page),
  },
  transactions: {
    table: sql`retail_transaction`,
    page: (db, service, page) => readTransactionPage(db, service, {}, page),
  },
  'store-mapping': {
    table: sql`store`,
    page: (db, service, page) => readMappingPage(db, service, 'stores', 'mapped', page),
  },
  'sku-mapping': {
    table: sql`variant`,
    page: (db, service, page) => readMappingPage(db, service, 'skus', 'mapped', page),
  },
  'customer-mapping': {
    table: sql`customer`,
    page: (db, service, page) => readMappingPage(db, service, 'customers', 'mapped', page),
  },
} satisfies Record<string, ExportType>

/** Returns the approximate number of records of a list: mapping lists also count unmapped records. */
export const loadRecordCount = async (db: Db, service: Service, kind: keyof typeof exportTypes): Promise<number> =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from ${exportTypes[kind].table} where service_id = ${service.id}`,
    )
  )?.count ?? 0
