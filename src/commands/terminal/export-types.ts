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

interface Listed {
  table: ReturnType<typeof sql>
  page: (db: Db, service: Service, asked: PageRequest) => Promise<Page>
}

/** The lists of a service that can be taken out and brought in again, by the names that imports have for them, in the order in which they go in. */
export const exported = {
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
} satisfies Record<string, Listed>

/** How many records the list has, about: what is mapped is not told apart. */
export const countOf = async (db: Db, service: Service, kind: keyof typeof exported): Promise<number> =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from ${exported[kind].table} where service_id = ${service.id}`,
    )
  )?.count ?? 0
