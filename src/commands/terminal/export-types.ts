import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { productPage } from '../../store/catalog/products.ts'
import { staffPage } from '../../store/catalog/staff.ts'
import { storePage } from '../../store/catalog/stores.ts'
import { customerPage } from '../../store/customers/customers.ts'
import { stockPage } from '../../store/inventory/stock.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { mappingPage } from '../../store/mappings/mappings.ts'
import { transactionPage } from '../../store/orders/transactions.ts'

interface ExportType {
  table: ReturnType<typeof sql>
  page: (db: Db, service: Service, asked: PageRequest) => Promise<Page>
}

/** The lists that can be exported, by their import types, in the order in which a service must import them. */
export const exportTypes = {
  stores: { table: sql`store`, page: (db, service, asked) => storePage(db, service, {}, asked) },
  staff: { table: sql`staff`, page: (db, service, asked) => staffPage(db, service, {}, asked) },
  products: { table: sql`product`, page: (db, service, asked) => productPage(db, service, {}, asked) },
  stock: { table: sql`stock`, page: (db, service, asked) => stockPage(db, service, {}, asked) },
  customers: {
    table: sql`customer`,
    page: (db, service, asked) => customerPage(db, service, { ecommerceIds: true }, asked),
  },
  transactions: {
    table: sql`retail_transaction`,
    page: (db, service, asked) => transactionPage(db, service, {}, asked),
  },
  'store-mapping': {
    table: sql`store`,
    page: (db, service, asked) => mappingPage(db, service, 'stores', 'mapped', asked),
  },
  'sku-mapping': {
    table: sql`variant`,
    page: (db, service, asked) => mappingPage(db, service, 'skus', 'mapped', asked),
  },
  'customer-mapping': {
    table: sql`customer`,
    page: (db, service, asked) => mappingPage(db, service, 'customers', 'mapped', asked),
  },
} satisfies Record<string, ExportType>

/** Returns the approximate number of records of a list: mapping lists also count unmapped records. */
export const loadRecordCount = async (db: Db, service: Service, kind: keyof typeof exportTypes): Promise<number> =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from ${exportTypes[kind].table} where service_id = ${service.id}`,
    )
  )?.count ?? 0
