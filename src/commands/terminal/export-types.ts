import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { productPage } from '../../store/catalog/products.ts'
import { referencePage } from '../../store/catalog/references.ts'
import { staffPage } from '../../store/catalog/staff.ts'
import { storePage } from '../../store/catalog/stores.ts'
import { customerPage } from '../../store/customers/customers.ts'
import { stockPage } from '../../store/inventory/stock.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { mappingPage } from '../../store/mappings/mappings.ts'
import { transactionPage } from '../../store/orders/transactions.ts'

interface ExportType {
  table: ReturnType<typeof sql>
  page: (db: Db, service: Service, page: PageRequest) => Promise<Page>
}

/** The lists that can be exported, by their import types, in the order in which a service must import them. */
export const exportTypes = {
  references: { table: sql`reference`, page: referencePage },
  stores: { table: sql`store`, page: (db, service, page) => storePage(db, service, {}, page) },
  staff: { table: sql`staff`, page: (db, service, page) => staffPage(db, service, {}, page) },
  products: { table: sql`product`, page: (db, service, page) => productPage(db, service, {}, page) },
  stock: { table: sql`stock`, page: (db, service, page) => stockPage(db, service, {}, page) },
  customers: {
    table: sql`customer`,
    page: (db, service, page) => customerPage(db, service, { ecommerceIds: true }, page),
  },
  transactions: {
    table: sql`retail_transaction`,
    page: (db, service, page) => transactionPage(db, service, {}, page),
  },
  'store-mapping': {
    table: sql`store`,
    page: (db, service, page) => mappingPage(db, service, 'stores', 'mapped', page),
  },
  'sku-mapping': {
    table: sql`variant`,
    page: (db, service, page) => mappingPage(db, service, 'skus', 'mapped', page),
  },
  'customer-mapping': {
    table: sql`customer`,
    page: (db, service, page) => mappingPage(db, service, 'customers', 'mapped', page),
  },
} satisfies Record<string, ExportType>

/** Returns the approximate number of records of a list: mapping lists also count unmapped records. */
export const loadRecordCount = async (db: Db, service: Service, kind: keyof typeof exportTypes): Promise<number> =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from ${exportTypes[kind].table} where service_id = ${service.id}`,
    )
  )?.count ?? 0
