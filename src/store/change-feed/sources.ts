import { raw, type Sql, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson } from '../customers/customers.ts'
import { selectStockByShownId, stockId } from '../inventory/stock.ts'
import type { List } from '../lists/change-timestamp.ts'
import { orderJson } from '../orders/orders.ts'
import { returnJson } from '../orders/returns.ts'
import { rewardAccountJson } from '../rewards/rewards.ts'

/** Where the records of a kind are. */
interface Source {
  table: List
  /** What its index of changes ends with. */
  key: Sql
  /** What a record shows as its identifier; absent: the key. */
  id?: Sql
  /** What its path names it by; absent: the identifier. */
  name?: Sql
  /** The record of a row `told`, as its own path shows it. */
  record: (service: Service) => Sql
  /** A query that has a row where a record shows this identifier; absent: it is the key. */
  shownAs?: (service: Service, id: Sql) => Sql
}

const stored = () => sql`record`

/** A record that is put together of a row, which has a name in that. */
const recordOf = (row: Sql, text: Sql) =>
  sql`(select ${text} from ${row} where (service_id, id) = (told.service_id, told.id))`

export const sources: Readonly<Record<Kind, Source>> = {
  store: { table: 'store', key: sql`store_id`, name: sql`store_number`, record: stored },
  staff: { table: 'staff', key: sql`id`, record: stored },
  product: { table: 'product', key: sql`product_id`, record: stored },
  inventory: { table: 'stock', key: sql`id`, id: stockId, record: stored, shownAs: selectStockByShownId },
  customer: { table: 'customer', key: sql`id`, record: () => customerJson },
  transaction: { table: 'retail_transaction', key: sql`id`, record: stored },
  order: { table: 'sales_order', key: sql`id`, record: service => recordOf(sql`sales_order o`, orderJson(service)) },
  return: {
    table: 'sales_return',
    key: sql`id`,
    record: service => recordOf(sql`sales_return r`, returnJson(service)),
  },
  'reward-account': {
    table: 'reward_account',
    key: sql`id`,
    record: service => sql`(${rewardAccountJson(service, sql`id = told.id`)})`,
  },
}

/** Whether a record of the kind shows this identifier. */
export const isShown = ({ table, key, shownAs }: Source, service: Service, id: Sql): Sql => {
  const rows =
    shownAs?.(service, id) ?? sql`select from ${raw(table)} r where r.service_id = ${service.id} and r.${key} = ${id}`
  return sql`exists (${rows})`
}

/** Whether the first load of a kind is under way: nothing of it is shown until it has ended (contributing/decisions/0013). */
export const isHidden = (service: Service, kind: Kind): Sql =>
  sql`exists (select from initial_load where service_id = ${service.id} and kind = ${kind})`
