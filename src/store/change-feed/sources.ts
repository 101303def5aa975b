import { raw, type Sql, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson } from '../customers/customers.ts'
import { stockId } from '../inventory/stock.ts'
import { selectStockByApiId } from '../inventory/stock-records.ts'
import type { List } from '../lists/change-timestamp.ts'
import { orderJson } from '../orders/orders.ts'
import { returnJson } from '../orders/returns.ts'
import { shipmentJson } from '../orders/shipments.ts'
import { rewardAccountJson } from '../rewards/rewards.ts'

/** The table and columns of a kind's records. */
interface Source {
  table: List
  /** Unique within the service. The feed is paginated by change timestamp and this column, the last one of the index. */
  key: Sql
  /** The identifier of the record in the API. Default: the key. */
  id?: Sql
  /** The last segment of the record's path. Default: the identifier. */
  name?: Sql
  /** JSON of a row named `changed`, as the record's path returns it. */
  record: (service: Service) => Sql
  /** Selects the rows with this identifier in the API. Default: the row with this key. */
  selectByApiId?: (service: Service, id: Sql) => Sql
}

const stored = () => sql`record`

/** SQL that renders the row `changed`. `json` has an alias of its own for the table, so `row` is the table with that alias. */
const renderFrom = (row: Sql, json: Sql) =>
  sql`(select ${json} from ${row} where (service_id, id) = (changed.service_id, changed.id))`

export const sources: Readonly<Record<Kind, Source>> = {
  store: { table: 'store', key: sql`store_id`, name: sql`store_number`, record: stored },
  staff: { table: 'staff', key: sql`id`, record: stored },
  product: { table: 'product', key: sql`product_id`, record: stored },
  inventory: { table: 'stock', key: sql`id`, id: stockId, record: stored, selectByApiId: selectStockByApiId },
  customer: { table: 'customer', key: sql`id`, record: () => customerJson },
  transaction: { table: 'retail_transaction', key: sql`id`, record: stored },
  order: { table: 'sales_order', key: sql`id`, record: service => renderFrom(sql`sales_order o`, orderJson(service)) },
  return: {
    table: 'sales_return',
    key: sql`id`,
    record: service => renderFrom(sql`sales_return r`, returnJson(service)),
  },
  shipment: {
    table: 'shipment',
    key: sql`id`,
    record: service => renderFrom(sql`shipment s`, shipmentJson(service)),
  },
  'reward-account': {
    table: 'reward_account',
    key: sql`id`,
    record: service => sql`(${rewardAccountJson(service, sql`id = changed.id`)})`,
  },
}

/** SQL: true if the kind has a record with this identifier in the API. */
export const hasRecord = ({ table, key, selectByApiId }: Source, service: Service, id: Sql): Sql => {
  const rows =
    selectByApiId?.(service, id) ??
    sql`select from ${raw(table)} r where r.service_id = ${service.id} and r.${key} = ${id}`
  return sql`exists (${rows})`
}

/** SQL: true during the initial load of a kind. Its records become visible when the load ends (contributing/decisions/0013). */
export const isHidden = (service: Service, kind: Kind): Sql =>
  sql`exists (select from initial_load where service_id = ${service.id} and kind = ${kind})`
