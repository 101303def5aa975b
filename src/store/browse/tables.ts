import { type Sql, sql } from '../../database/db.ts'
import type { BrowsedList } from '../../domain/browse.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { mappedStates } from '../mappings/mappings.ts'
import { customerEcommerceId } from '../mappings/sides.ts'
import { beginsWith, matchesCustomer } from '../search/search.ts'
import { availableUnits } from './available-units.ts'

/** True if a row is from an instant or later (`>=`), or from before it (`<`). */
type Period = (service: Service, operator: '>=' | '<', instant: string) => Sql

/** A table of records for people. */
interface Table {
  /** The table as `t`, with further tables that conditions and orders need. */
  from: Sql
  /** Further tables for the values of a row. */
  joins?: Sql
  key: Sql
  /** The values of a row of `t`. */
  select(service: Service): Sql
  sorts: Readonly<Record<string, Sql>>
  defaultSort: string
  /** Absent: rows can't be limited to a period. */
  period?: Period
  filters: Readonly<Record<string, (service: Service) => Sql>>
  /** True if the row matches the text. */
  search(service: Service, text: string): Sql
}

const localMinute = (column: Sql, service: Service) =>
  sql`to_char(${column} at time zone ${service.settings.timeZone}, 'YYYY-MM-DD HH24:MI')`

const customerName = (id: Sql) => sql`(
  select nullif(btrim(concat_ws(' ', c.firstname, c.surname)), '') from customer c where c.service_id = t.service_id and c.id = ${id})`

const isOfCustomer = (service: Service, text: string) => sql`
  t.customer_id in (select c.id from customer c where c.service_id = ${service.id} and ${matchesCustomer(service, text)})`

/** True if a text contains the words that were typed, in any case. */
const contains = (value: Sql, text: string) => sql`position(lower(${text}) in lower(${value})) > 0`

const orderStatus = sql`(
  select case when bool_or(l.status = 'processing') then 'processing' when bool_and(l.status = 'cancelled') then 'cancelled'
              when bool_and(l.status in ('cancelled', 'returned')) then 'returned' else 'shipped' end
    from order_line l where l.service_id = t.service_id and l.order_id = t.id)`

const filterBy = (column: Sql, values: readonly string[]) =>
  Object.fromEntries(values.map(value => [value, () => sql`${column} = ${value}`]))

const operators = { '>=': sql`>=`, '<': sql`<` }

const sinceDays = (column: Sql, days: number) => (service: Service) =>
  sql`${column} >= date_trunc('day', now() at time zone ${service.settings.timeZone}) - ${days - 1} * interval '1 day'`

const isInStock = sql`exists (
  select from variant v join stock s on s.service_id = v.service_id and s.sku_id = v.sku_id
   where v.service_id = t.service_id and v.product_id = t.product_id and s.free_stock - s.reserved - s.allocated > 0)`

const toMappedFilters = (kind: MappedKind) => ({
  mapped: () => mappedStates[kind].mapped,
  unmapped: () => mappedStates[kind].unmapped,
})

/**
 * The tables of the console. Each search reads indexes if the list can be long.
 * Aliases besides `t`: `o` order, `l` line, `c` customer or colour, `p` product, `v` variant, `s` stock or sale, and `st` store.
 */
export const tables: Record<BrowsedList, Table> = {
  orders: {
    from: sql`sales_order t`,
    key: sql`t.id`,
    select: service => sql`
      t.id, t.order_number as number, ${localMinute(sql`t.placed_at`, service)} as "placedAt", ${orderStatus} as status,
      t.customer_id as "customerId", ${customerName(sql`t.customer_id`)} as customer,
      (select sum(quantity)::integer from order_line l where l.service_id = t.service_id and l.order_id = t.id) as units,
      t.pickup_store_number as "pickupStore", t.currency, round(t.total, t.decimals)::text as total`,
    sorts: { number: sql`t.order_number`, placedAt: sql`t.placed_at`, total: sql`t.total` },
    defaultSort: '-placedAt',
    period: (_, operator, instant) => sql`t.placed_at ${operators[operator]} ${instant}::timestamptz`,
    filters: {
      today: ({ settings: { timeZone } }) =>
        sql`t.placed_at >= date_trunc('day', now() at time zone ${timeZone}) at time zone ${timeZone}`,
      ...Object.fromEntries(
        ['processing', 'shipped', 'returned', 'cancelled'].map(status => [
          status,
          () => sql`${orderStatus} = ${status}`,
        ]),
      ),
      pickup: () => sql`t.pickup_store_number is not null`,
    },
    search: (service, text) => sql`(${beginsWith(sql`t.order_number`, text)} or ${isOfCustomer(service, text)})`,
  },
  sales: {
    from: sql`retail_transaction t`,
    joins: sql`cross join lateral (select t.record::json as sale) parsed`,
    key: sql`t.id`,
    select: () => sql`
      t.id, coalesce(receipt_number(t.record), t.id) as number, to_char(t.sale_date, 'YYYY-MM-DD HH24:MI') as "saleDate",
      sale->>'storeName' as store, t.customer_id as "customerId", ${customerName(sql`t.customer_id`)} as customer,
      t.order_number as "orderNumber", json_array_length(sale->'lines') as lines, sale->>'currency' as currency, sale->>'total' as total`,
    sorts: { saleDate: sql`t.sale_date`, number: sql`receipt_number(t.record) collate "C"` },
    defaultSort: '-saleDate',
    period: ({ settings: { timeZone } }, operator, instant) =>
      sql`t.sale_date ${operators[operator]} ${instant}::timestamptz at time zone ${timeZone}`,
    filters: {
      today: sinceDays(sql`t.sale_date`, 1),
      week: sinceDays(sql`t.sale_date`, 7),
      month: sinceDays(sql`t.sale_date`, 30),
    },
    search: (service, text) => sql`
      (${beginsWith(sql`(receipt_number(t.record) collate "C")`, text.toUpperCase())} or lower(t.order_number) = lower(${text}) or t.id = ${text}
       or ${isOfCustomer(service, text)})`,
  },
  returns: {
    from: sql`sales_return t`,
    joins: sql`join sales_order o on o.service_id = t.service_id and o.id = t.order_id`,
    key: sql`t.id`,
    select: service => sql`
      t.id, t.return_number as number, ${localMinute(sql`t.created_at`, service)} as "createdAt", t.status, t.order_id as "orderId",
      o.order_number as "orderNumber", o.customer_id as "customerId", ${customerName(sql`o.customer_id`)} as customer,
      (select sum(quantity)::integer from return_line l where l.service_id = t.service_id and l.return_id = t.id) as units,
      o.currency, (select round(sum(value), o.decimals)::text from return_line l where l.service_id = t.service_id and l.return_id = t.id) as total`,
    sorts: { number: sql`t.return_number`, createdAt: sql`t.created_at` },
    defaultSort: '-createdAt',
    filters: filterBy(sql`t.status`, ['requested', 'received', 'refunded', 'cancelled']),
    search: (service, text) => sql`
      (${beginsWith(sql`t.return_number`, text)} or t.authorisation_number = ${text}
       or t.order_id in (select t.id from sales_order t where t.service_id = ${service.id} and (${beginsWith(sql`t.order_number`, text)} or ${isOfCustomer(service, text)})))`,
  },
  customers: {
    from: sql`customer t`,
    key: sql`t.id`,
    select: service => sql`
      t.id, coalesce(nullif(btrim(concat_ws(' ', t.firstname, t.surname)), ''), t.id) as name, t.email,
      coalesce(t.phone_mobile, t.phone_home, t.phone_work) as phone, t.city, t.email_subscription as "emailSubscription",
      t.sms_subscription as "smsSubscription", t.loyalty_name as loyalty, ${localMinute(sql`t.changed_at`, service)} as "updatedAt"`,
    sorts: {
      name: sql`customer_name_key(t.surname, t.firstname) collate "C"`,
      updatedAt: sql`t.changed_at`,
      id: sql`t.id`,
    },
    defaultSort: 'name',
    filters: {
      email: () => sql`t.email_subscription`,
      sms: () => sql`t.sms_subscription`,
      none: () => sql`not t.email_subscription and not t.sms_subscription`,
    },
    search: (service, text) => matchesCustomer(service, text, sql`t`),
  },
  products: {
    from: sql`product t`,
    joins: sql`
      left join lateral (
        select count(*)::integer as skus, count(distinct colour_id)::integer as colours, trim_scale(min(price))::text as lowest, trim_scale(max(price))::text as highest
          from variant v where v.service_id = t.service_id and v.product_id = t.product_id) v on true
      left join lateral (
        select trim_scale(sum(greatest(0, s.free_stock - s.reserved - s.allocated)))::float8 as units from variant v
          join stock s on s.service_id = v.service_id and s.sku_id = v.sku_id
         where v.service_id = t.service_id and v.product_id = t.product_id) s on true`,
    key: sql`t.product_id`,
    select: service => sql`
      t.product_id as id, t.product_code as code, t.name, v.colours, v.skus, ${service.settings.currency}::text as currency,
      v.lowest as price, nullif(v.highest, v.lowest) as "highestPrice", coalesce(s.units, 0) as stock, ${localMinute(sql`t.changed_at`, service)} as "updatedAt"`,
    sorts: { code: sql`t.product_code`, name: sql`t.name`, updatedAt: sql`t.changed_at` },
    defaultSort: 'code',
    filters: { inStock: () => isInStock, outOfStock: () => sql`not ${isInStock}` },
    search: (service, text) => sql`
      (${beginsWith(sql`t.product_code`, text)} or search_words(t.service_id, t.name, '') @@ search_prefixes(${service.id}, ${text})
       or t.product_id in (select v.product_id from variant v where v.service_id = ${service.id} and (${beginsWith(sql`v.sku`, text)} or v.barcode = ${text})))`,
  },
  stock: {
    from: sql`stock t`,
    joins: sql`
      join variant v on v.service_id = t.service_id and v.sku_id = t.sku_id
      join product p on p.service_id = v.service_id and p.product_id = v.product_id
      join colour c on c.service_id = v.service_id and c.product_id = v.product_id and c.colour_id = v.colour_id
      join store st on st.service_id = t.service_id and st.store_id = t.store_id`,
    key: sql`t.sku_id, t.store_id`,
    select: service => sql`
      t.id, v.sku, p.product_id as "productId", p.name as product, coalesce(c.name, c.code) as colour, v.size_code as size,
      st.store_number as "storeNumber", st.name as store, trim_scale(t.free_stock)::float8 as "onHand",
      coalesce(t.buffer, st.inventory_buffer, ${service.settings.inventoryBuffer}::integer) as buffer, t.reserved + t.allocated as reserved,
      trim_scale(${availableUnits(service, sql`t`, sql`st`)})::float8 as available`,
    sorts: { sku: sql`t.sku_id`, onHand: sql`t.free_stock`, store: sql`t.store_id` },
    defaultSort: 'sku',
    filters: {
      available: () => sql`t.free_stock - t.reserved - t.allocated > 0`,
      low: () => sql`t.free_stock - t.reserved - t.allocated between 1 and 3`,
      none: () => sql`t.free_stock - t.reserved - t.allocated <= 0`,
    },
    search: (service, text) => sql`
      (t.sku_id in (select v.sku_id from variant v where v.service_id = ${service.id} and (${beginsWith(sql`v.sku`, text)} or v.barcode = ${text} or v.product_id = ${text}
          or v.product_id in (select p.product_id from product p where p.service_id = ${service.id} and search_words(p.service_id, p.name, '') @@ search_prefixes(${service.id}, ${text}))))
       or t.store_id in (select st.store_id from store st where st.service_id = ${service.id} and (st.store_number = ${text} or ${contains(sql`st.name`, text)})))`,
  },
  vouchers: {
    from: sql`voucher t`,
    joins: sql`left join voucher_sale s on s.service_id = t.service_id and s.number = t.number`,
    key: sql`t.number`,
    select: service => sql`
      t.number as id, t.number, case when t.state in ('active', 'locked') and t.expiry_date < (now() at time zone ${service.settings.timeZone})::date then 'expired' else t.state end as state,
      t.currency, trim_scale(t.balance)::text as balance, trim_scale(t.original_amount)::text as "originalAmount",
      to_char(t.expiry_date, 'YYYY-MM-DD') as "expiryDate", s.receiver_name as receiver, s.receiver_email as email, ${localMinute(sql`t.created_at`, service)} as "createdAt"`,
    sorts: {
      number: sql`t.number`,
      createdAt: sql`t.created_at`,
      balance: sql`t.balance`,
      expiryDate: sql`t.expiry_date`,
    },
    defaultSort: '-createdAt',
    filters: {
      ...filterBy(sql`t.state`, ['pending', 'active', 'locked', 'redeemed', 'expired', 'suspended']),
      expiring: service =>
        sql`t.balance > 0 and t.state in ('active', 'locked') and t.expiry_date between (now() at time zone ${service.settings.timeZone})::date and (now() at time zone ${service.settings.timeZone})::date + 30`,
    },
    search: (service, text) => sql`
      (${beginsWith(sql`t.number`, text.replaceAll(' ', ''))} or t.number in (
         select s.number from voucher_sale s where s.service_id = ${service.id}
            and (lower(normalize(s.receiver_email, nfc)) = lower(${text}) or ${contains(sql`s.receiver_name`, text)} or s.order_number = ${text})))`,
  },
  stores: {
    from: sql`store t`,
    key: sql`t.store_id`,
    select: service => sql`
      t.store_id as id, t.store_number as number, t.name, t.kind, t.city, t.state, coalesce(t.inventory_buffer, ${service.settings.inventoryBuffer}::integer) as buffer,
      t.ecommerce_location_id as location, ${localMinute(sql`t.changed_at`, service)} as "updatedAt"`,
    sorts: { number: sql`t.store_number`, name: sql`t.name`, city: sql`t.city` },
    defaultSort: 'number',
    filters: filterBy(sql`t.kind`, ['store', 'warehouse', 'web']),
    search: (_, text) => contains(sql`concat_ws(' ', t.store_number, t.name, t.city, t.postcode)`, text),
  },
  staff: {
    from: sql`staff t`,
    key: sql`t.id`,
    select: service => sql`
      t.id, t.code, concat_ws(' ', t.firstname, t.surname) as name, t.email, t.store_number as store, t.active,
      ${localMinute(sql`t.changed_at`, service)} as "updatedAt"`,
    sorts: { code: sql`t.code`, name: sql`t.surname`, store: sql`t.store_number` },
    defaultSort: 'name',
    filters: { active: () => sql`t.active`, left: () => sql`not t.active` },
    search: (_, text) => contains(sql`concat_ws(' ', t.code, t.firstname, t.surname, t.email, t.store_number)`, text),
  },
  storeMappings: {
    from: sql`store t`,
    key: sql`t.store_id`,
    select: () =>
      sql`t.store_id as id, t.store_number as number, t.name, t.ecommerce_location_id as "ecommerceLocationId"`,
    sorts: {
      id: sql`t.store_id`,
      number: sql`t.store_number`,
      name: sql`t.name`,
      mapped: sql`t.ecommerce_location_id`,
    },
    defaultSort: 'number',
    filters: toMappedFilters('stores'),
    search: (_, text) =>
      contains(sql`concat_ws(' ', t.store_id, t.store_number, t.name, t.ecommerce_location_id)`, text),
  },
  skuMappings: {
    from: sql`variant t`,
    joins: sql`
      join product p on p.service_id = t.service_id and p.product_id = t.product_id
      join colour c on c.service_id = t.service_id and c.product_id = t.product_id and c.colour_id = t.colour_id`,
    key: sql`t.sku_id`,
    select: () => sql`
      t.sku_id as id, p.product_id as "productId", p.product_code as code, p.name as product, coalesce(c.name, c.code) as colour, t.size_code as size,
      nullif(t.sku, t.sku_id) as "ecommerceSku", c.ecommerce_product_id as "ecommerceProductId"`,
    sorts: { id: sql`t.sku_id`, mapped: sql`t.sku` },
    defaultSort: 'id',
    filters: toMappedFilters('skus'),
    search: (service, text) => sql`
      (${beginsWith(sql`t.sku`, text)} or ${beginsWith(sql`t.sku_id`, text)} or t.barcode = ${text}
       or t.product_id in (select p.product_id from product p where p.service_id = ${service.id}
            and (${beginsWith(sql`p.product_code`, text)} or search_words(p.service_id, p.name, '') @@ search_prefixes(${service.id}, ${text}))))`,
  },
  customerMappings: {
    from: sql`customer t`,
    key: sql`t.id`,
    select: () => sql`
      t.id, ${customerName(sql`t.id`)} as name, t.email, t.ecommerce_admin_id as "ecommerceAdminId", t.ecommerce_legacy_id as "ecommerceLegacyId"`,
    sorts: { id: sql`t.id`, name: sql`customer_name_key(t.surname, t.firstname) collate "C"` },
    defaultSort: 'id',
    filters: toMappedFilters('customers'),
    search: (service, text) =>
      sql`(${matchesCustomer(service, text, sql`t`)} or ${customerEcommerceId(sql`t`)} = ${text})`,
  },
}
