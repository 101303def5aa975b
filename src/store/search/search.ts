import { type Db, type Sql, sql } from '../../database/db.ts'
import { maxResultsPerType, type SearchResult, type SearchType, toPhonePrefixes } from '../../domain/search.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { salePrefix } from '../orders/own-sales.ts'

type ResultRow = Omit<SearchResult, 'type'>

/** The text as typed and in capitals. */
const listSpellings = (text: string) => [...new Set([text, text.toUpperCase()])]

// `chr(1114111)` is the highest code point, so it is the upper bound of the prefix range.
const hasPrefix = (column: Sql, prefix: string) =>
  sql`(${column} >= ${prefix} and ${column} < ${prefix} || chr(1114111))`

/** True if a value of an index in the order of bytes begins with the text, as typed or in capitals. */
export const beginsWith = (column: Sql, text: string) =>
  listSpellings(text)
    .map(spelling => hasPrefix(column, spelling))
    .reduce((all, condition) => sql`(${all} or ${condition})`)

/** Selects the first rows whose value begins with the text. Each spelling reads only its range of the index; an `or` in order would read all. */
const selectByPrefix = (table: Sql, column: Sql, service: Service, text: string) =>
  listSpellings(text)
    .map(
      spelling => sql`
      (select * from ${table} where service_id = ${service.id} and ${hasPrefix(column, spelling)} order by ${column} limit ${maxResultsPerType})`,
    )
    .reduce((all, select) => sql`${all} union all ${select}`)

/** Returns a `tsquery` for phone numbers that begin with the text. Returns null if the text is no phone number. */
function toPhoneQuery(service: Service, text: string) {
  const prefixes = toPhonePrefixes(text).map(prefix => `'${service.id} #${prefix}':*`)
  return prefixes.length ? prefixes.join(' | ') : null
}

/** True if a customer has this ID or phone number, or words of their name or email address. Reads the search index. */
export function matchesCustomer(service: Service, text: string, customer = sql`c`) {
  const phone = toPhoneQuery(service, text)
  return sql`(${customer}.id = ${text} or search_words(
      ${customer}.service_id, coalesce(${customer}.firstname, '') || ' ' || coalesce(${customer}.surname, '') || ' ' || coalesce(${customer}.email, ''),
      coalesce(${customer}.phone_home, '') || ',' || coalesce(${customer}.phone_mobile, '') || ',' || coalesce(${customer}.phone_work, ''))
    @@ coalesce(search_prefixes(${service.id}, ${text}) || ${phone}::tsquery, search_prefixes(${service.id}, ${text}), ${phone}::tsquery))`
}

const selectCustomers = (service: Service, text: string) => {
  const phone = toPhoneQuery(service, text)
  return sql`
    select c.id, coalesce(nullif(btrim(coalesce(c.firstname, '') || ' ' || coalesce(c.surname, '')), ''), c.id) as title,
           concat_ws(' · ', c.email, coalesce(c.phone_mobile, c.phone_home, c.phone_work), c.city) as detail,
           match.field as "matchedField", match.text as "matchedText"
      from (
        (select * from customer where service_id = ${service.id} and id = ${text})
        union all
        (select * from customer
          where search_words(
                  service_id, coalesce(firstname, '') || ' ' || coalesce(surname, '') || ' ' || coalesce(email, ''),
                  coalesce(phone_home, '') || ',' || coalesce(phone_mobile, '') || ',' || coalesce(phone_work, ''))
                @@ coalesce(search_prefixes(${service.id}, ${text}) || ${phone}::tsquery, search_prefixes(${service.id}, ${text}), ${phone}::tsquery)
            and service_id = ${service.id} and id <> ${text} limit 200)) c
     cross join lateral (
       select case when c.id = ${text} then 'id' when search_words(${service.id}, coalesce(c.firstname, '') || ' ' || coalesce(c.surname, ''), '') @@ search_prefixes(${service.id}, ${text}) then 'name'
                   when c.email is not null and search_words(${service.id}, coalesce(c.firstname, '') || ' ' || coalesce(c.surname, '') || ' ' || c.email, '') @@ search_prefixes(${service.id}, ${text}) then 'email' else 'phone' end as field) m
     cross join lateral (
       select m.field, case m.field when 'email' then c.email when 'name' then btrim(coalesce(c.firstname, '') || ' ' || coalesce(c.surname, '')) when 'id' then c.id
                       else coalesce((select p from unnest(array[c.phone_mobile, c.phone_home, c.phone_work]) p where search_words(${service.id}, '', p) @@ ${phone}::tsquery limit 1), '') end as text) match
     order by customer_name_key(c.surname, c.firstname), c.id limit ${maxResultsPerType}`
}

const selectOrders = (service: Service, text: string) => sql`
  select id, order_number as title, to_char(placed_at at time zone ${service.settings.timeZone}, 'YYYY-MM-DD') || ' · ' || currency || ' ' || round(total, decimals) as detail,
         case when id = ${text} then 'id' else 'number' end as "matchedField", case when id = ${text} then id else order_number end as "matchedText"
    from (
      ${selectByPrefix(sql`sales_order`, sql`order_number`, service, text)}
      union all
      (select * from sales_order where service_id = ${service.id} and id = ${text} and not ${beginsWith(sql`order_number`, text)})) o
   order by order_number limit ${maxResultsPerType}`

/** Sales and returns. The sale of an own order is left out, because the order is found. */
const selectSales = (service: Service, text: string) => sql`
  select s.id, coalesce(receipt_number(s.record), s.id) as title,
         concat_ws(' · ', to_char(s.sale_date, 'YYYY-MM-DD'), s.record::json->>'storeName', (s.record::json->>'currency') || ' ' || (s.record::json->>'total'), s.order_number) as detail,
         s.field as "matchedField", case s.field when 'id' then s.id when 'number' then receipt_number(s.record) else s.order_number end as "matchedText"
    from (
      (select 'number' as field, t.* from retail_transaction t
        where service_id = ${service.id} and ${beginsWith(sql`(receipt_number(record) collate "C")`, text.toUpperCase())} limit ${maxResultsPerType})
      union all
      (select 'orderNumber', t.* from retail_transaction t
        where service_id = ${service.id} and lower(order_number) = lower(${text}) and not ${beginsWith(sql`coalesce(receipt_number(record) collate "C", '')`, text.toUpperCase())} limit ${maxResultsPerType})
      union all
      (select 'id', t.* from retail_transaction t where service_id = ${service.id} and id = ${text}
          and not ${beginsWith(sql`coalesce(receipt_number(record) collate "C", '')`, text.toUpperCase())} and lower(order_number) is distinct from lower(${text}))) s
   where s.field = 'id' or not exists (select from sales_order o where o.service_id = ${service.id} and starts_with(s.id, ${salePrefix}::text || o.id) and o.order_number = s.order_number)
   order by s.sale_date desc, s.id limit ${maxResultsPerType}`

const selectReturns = (service: Service, text: string) => sql`
  select id, return_number as title, to_char(created_at at time zone ${service.settings.timeZone}, 'YYYY-MM-DD') || ' · ' || status as detail,
         case when id = ${text} then 'id' else 'number' end as "matchedField", case when id = ${text} then id else return_number end as "matchedText"
    from (
      ${selectByPrefix(sql`sales_return`, sql`return_number`, service, text)}
      union all
      (select * from sales_return where service_id = ${service.id} and id = ${text} and not ${beginsWith(sql`return_number`, text)})) r
   order by return_number limit ${maxResultsPerType}`

const selectProducts = (service: Service, text: string) => sql`
  select p.product_id as id, p.name as title, p.product_code as detail, p.field as "matchedField",
         case p.field when 'id' then p.product_id when 'name' then p.name else p.product_code end as "matchedText"
    from (
      (select 1 as rank, 'number' as field, product_id, name, product_code
         from (${selectByPrefix(sql`product`, sql`product_code`, service, text)}) t)
      union all
      (select 2, 'id', product_id, name, product_code from product where service_id = ${service.id} and product_id = ${text} and not ${beginsWith(sql`product_code`, text)})
      union all
      (select 3, 'name', product_id, name, product_code from product
        where search_words(service_id, name, '') @@ search_prefixes(${service.id}, ${text}) and service_id = ${service.id}
          and product_id <> ${text} and not ${beginsWith(sql`product_code`, text)} limit 200)) p
   order by p.rank, p.name, p.product_id limit ${maxResultsPerType}`

const selectSkus = (service: Service, text: string) => sql`
  select v.sku as id, v.sku as title, concat_ws(' · ', p.name, coalesce(c.name, c.code), v.size_code) as detail,
         v.field as "matchedField", case v.field when 'barcode' then v.barcode else v.sku end as "matchedText"
    from (
      (select 'sku' as field, t.* from (${selectByPrefix(sql`variant`, sql`sku`, service, text)}) t)
      union all
      (select 'barcode', t.* from variant t where service_id = ${service.id} and barcode = ${text} and not ${beginsWith(sql`sku`, text)} limit ${maxResultsPerType})) v
    join product p on p.service_id = ${service.id} and p.product_id = v.product_id
    join colour c on c.service_id = ${service.id} and c.product_id = v.product_id and c.colour_id = v.colour_id
   order by v.sku limit ${maxResultsPerType}`

const selectVouchers = (service: Service, text: string) => sql`
  select number as id, number as title, state || ' · ' || currency || ' ' || balance as detail, 'number' as "matchedField", number as "matchedText"
    from voucher where service_id = ${service.id} and number = ${text.replaceAll(' ', '')}`

const selects: Record<SearchType, (service: Service, text: string) => Sql> = {
  customer: selectCustomers,
  order: selectOrders,
  sale: selectSales,
  return: selectReturns,
  product: selectProducts,
  sku: selectSkus,
  voucher: selectVouchers,
}

/** Searches the stored records of these types. Each select reads an index that begins with the service. */
export async function searchRecords(db: Db, service: Service, types: readonly SearchType[], text: string) {
  const results = await Promise.all(types.map(type => db.rows<ResultRow>(selects[type](service, text))))
  return types.flatMap((type, i) => (results[i] ?? []).map((row): SearchResult => ({ type, ...row })))
}
