import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals } from '../../domain/values/money.ts'
import { rerenderStock } from '../inventory/stale-stock.ts'
import { beginSourceDatedChange, changeTimestamp, type SourceDated, withChangeTimestamp } from '../lists/back-date.ts'
import { type Change, hasSameBody, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import {
  buildColumnLists,
  isDifferent,
  type Merged,
  type MergeTable,
  mergeRows,
  onConflictUpdate,
  upsertMerged,
} from '../lists/merge.ts'
import { contentTime, dropOutdated, type WriteContext } from '../lists/outdated.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'
import { materialized, opaqueServiceId } from '../lists/planner-fences.ts'
import { lockReferences, selectReferences } from '../lists/references.ts'
import { removeRecords, selectTombstones } from '../lists/tombstones.ts'

const products: MergeTable = {
  name: 'product',
  key: ['product_id'],
  columns: ['service_id', 'product_id', 'product_code', 'name', 'description', 'size_range', 'reference_values'],
  defaults: { reference_values: {} },
}
const colours: MergeTable = {
  name: 'colour',
  key: ['product_id', 'colour_id'],
  columns: ['service_id', 'product_id', 'colour_id', 'code', 'name', 'ecommerce_product_id', 'markdown_status'],
  defaults: { markdown_status: 'none' },
}
const variants: MergeTable = {
  name: 'variant',
  key: ['sku_id'],
  columns: [
    ...['service_id', 'sku_id', 'product_id', 'colour_id', 'sku', 'size_code', 'sequence'],
    ...['original_price', 'price', 'barcode', 'allow_backorder', 'preorder_date'],
  ],
  defaults: { allow_backorder: false },
  derived: { sku: 'coalesce(sku, sku_id)', original_price: 'coalesce(original_price, price)' },
}
const productContent = buildColumnLists(products)
const variantContent = buildColumnLists(variants)

/**
 * JSON of a row `p` of `product` with its colours and sizes, without closing brace. Concatenated as text: nested JSON would be parsed
 * again at each level.
 */
const body = (service: Service) => {
  const decimals = getDecimals(service.settings.currency)
  return sql`
  (select left(row_to_json(r)::text, -1) || ',"colours":[' || coalesce((
     select string_agg(left(row_to_json(colours)::text, -1) || ',"sizes":[' || coalesce((
        select string_agg(row_to_json(sizes)::text, ',' order by sizes.sequence, sizes."skuId") from (select
           v.sku_id as "skuId", v.size_code as "sizeCode", v.sequence,
           round(v.original_price, ${decimals}::integer)::text as "originalPrice", round(v.price, ${decimals}::integer)::text as price,
           v.barcode, v.allow_backorder as "allowBackorder", v.preorder_date as "preorderDate", v.sku as "ecommerceSku", v.price_changes as "priceChanges"
           from variant v where v.service_id = p.service_id and v.product_id = p.product_id and v.colour_id = colours.id) sizes), '') || ']}', ',' order by colours.id)
       from (select c.colour_id as id, c.code, c.name, c.ecommerce_product_id as "ecommerceProductId", c.markdown_status as "markdownStatus"
               from colour c where c.service_id = p.service_id and c.product_id = p.product_id) colours), '') || ']'
     from (select p.product_id as id, p.product_code as "productCode", p.name, p.description, p.size_range as "sizeRange",
                  ${service.settings.currency}::text as currency, ${selectReferences('p')} as references) r)`
}

interface ProductKey {
  product_id: string
}

/** Columns of a row, including its key. */
type RowWithKey<K extends string> = Record<string, unknown> & Record<K, string>

/** The columns of a `ProductRow` by table. */
interface ProductParts {
  product: RowWithKey<'productId'> & SourceDated
  colour: RowWithKey<'productId' | 'colourId'>
  variant: RowWithKey<'skuId'>
}

/** Merges rows, one per colour and size, into the products. Renders the stock of renamed SKUs again. Returns counts of rows. */
export const upsertProducts = (
  db: Database,
  service: Service,
  rows: readonly ProductParts[],
  context?: WriteContext,
): Promise<Upserted> =>
  db.transaction(async tx => {
    const dated = rows.map(row => ({ ...row, skuId: row.variant.skuId, updateTimeStamp: row.product.updateTimeStamp }))
    const { current, outdated } = await dropOutdated(tx, service, variants, dated, context)
    return { ...(await mergeProducts(tx, service, current)), outdated }
  })

/** Like `upsertProducts`, within a transaction. */
export async function mergeProducts(tx: Db, service: Service, rows: readonly ProductParts[]): Promise<Upserted> {
  const productRows = mergeByKey(
    rows.map(row => row.product),
    row => row.productId,
  )
  await lockReferences(tx, service, productRows)
  await lockProducts(tx, service, {
    products: productRows.map(row => row.productId),
    skus: rows.map(row => row.variant.skuId),
  })
  const change = await beginSourceDatedChange(tx, service, 'product', productRows, ['stock'])
  const colourRows = mergeByKey(
    rows.map(row => row.colour),
    row => `${row.productId} ${row.colourId}`,
  )
  const changedProducts = await tx.rows<ProductKey>(sql`
      insert into product (${productContent.list}, changed_at, record)
      select ${productContent.qualify('p')}, 'epoch', '' from ${mergeRows(service, products, productRows, 'p')} where ${isDifferent(products, 'p')}
      ${onConflictUpdate(products, [])}
      returning product_id`)
  const variantRows = rows.map(({ variant, product }) => ({ ...variant, updateTimeStamp: product.updateTimeStamp }))
  const changedColours = await tx.rows<Merged<'product_id' | 'colour_id'>>(upsertMerged(service, colours, colourRows))
  // A SKU that moves to another product must leave its previous product.
  const storedVariants = await tx.rows<ProductKey & { sku_id: string; sku: string }>(sql`
      select sku_id, product_id, sku from variant where service_id = ${opaqueServiceId(service)} and sku_id = any(${rows.map(row => row.variant.skuId)}) order by sku_id for no key update`)
  const changedVariants = await tx.rows<ProductKey & { sku_id: string; sku: string; inserted: boolean }>(sql`
      insert into variant (${variantContent.list}, source_changed_at)
      select ${variantContent.qualify('v')}, greatest(old.source_changed_at, ${contentTime(sql`source.source_changed_at`, service, change)}) from ${mergeRows(service, variants, variantRows, 'v')} where ${isDifferent(variants, 'v')}
      ${onConflictUpdate(variants, ['source_changed_at'])}
      returning product_id, sku_id, sku, (xmax = 0) as inserted`)
  const skus = changedVariants.map(row => row.sku_id)
  const changedSkus = new Set(skus)
  const movedVariants = storedVariants.filter(({ sku_id }) => changedSkus.has(sku_id))
  if (movedVariants.length)
    await removeEmptied(tx, service, change, [...new Set(movedVariants.map(row => row.product_id))])
  const affectedProducts = new Set(
    [...changedProducts, ...changedColours, ...changedVariants, ...movedVariants].map(row => row.product_id),
  )
  const rendered = affectedProducts.size
    ? await renderProducts(
        tx,
        service,
        change,
        sql`and p.product_id = any(${[...affectedProducts]})`,
        selectSourceTime(productRows),
      )
    : affectedProducts
  // The time of a row is stored with its SKU, also if only its product or colour has changed.
  const unwritten = rows.filter(
    ({ product, variant }) => rendered.has(product.productId) && !changedSkus.has(variant.skuId),
  )
  if (unwritten.length) await storeSourceTimes(tx, service, change, unwritten)
  const storedSkus = new Map(storedVariants.map(row => [row.sku_id, row.sku]))
  const renamed = changedVariants
    .filter(row => (storedSkus.get(row.sku_id) ?? row.sku) !== row.sku)
    .map(row => row.sku_id)
  if (renamed.length) await rerenderStock(tx, service, change, 'sku_id', renamed)
  const inserted = changedVariants.filter(row => row.inserted).length
  const changed = new Set([
    ...rows.filter(row => rendered.has(row.product.productId)).map(row => row.variant.skuId),
    ...skus,
  ]).size
  return { inserted, changed: changed - inserted }
}

/** Stores the change times of rows in their source with the SKUs, unless a later time is stored. */
const storeSourceTimes = (tx: Db, service: Service, change: Change, rows: readonly ProductParts[]) =>
  tx.run(sql`
    update variant v set source_changed_at = greatest(v.source_changed_at, ${contentTime(sql`dated.time`, service, change)})
      from unnest(${rows.map(row => row.variant.skuId)}::text[], ${rows.map(row => row.product.updateTimeStamp ?? null)}::timestamp[]) dated (sku_id, time)
     where v.service_id = ${opaqueServiceId(service)} and v.sku_id = dated.sku_id`)

/** Removes colours and products, among these products, that have lost their last SKU. The caller has locked the products. */
export async function removeEmptied(tx: Db, service: Service, change: Change, ids: readonly string[]): Promise<void> {
  await tx.run(sql`
    delete from colour c
     where c.service_id = ${service.id}
       and c.product_id = any(${ids})
       and not exists (select from variant v where v.service_id = c.service_id and v.product_id = c.product_id and v.colour_id = c.colour_id)`)
  await removeRecords(tx, service, change, {
    list: 'product',
    id: sql`product_id`,
    where: sql`product_id = any(${ids})
      and not exists (select from variant v where v.service_id = product.service_id and v.product_id = product.product_id)`,
  })
}

/** The change time of a product `p` in its source. */
function selectSourceTime(productRows: readonly ProductParts['product'][]): Sql {
  const times = Object.fromEntries(productRows.map(({ productId, updateTimeStamp }) => [productId, updateTimeStamp]))
  return sql`(${JSON.stringify(times)}::jsonb->>p.product_id)::timestamp`
}

/** Locks products `p`. `where` must begin with `and`. */
const lockProductRows = (tx: Db, service: Service, where: Sql) =>
  lockRows(
    tx,
    sql`select from product p where p.service_id = ${opaqueServiceId(service)} ${where} order by p.product_id for no key update`,
  )

/**
 * Locks products, and the products of SKUs, before they are read and rendered: otherwise concurrent changes would be lost. Every
 * transaction that writes products, colours or SKUs begins with this lock, before `beginChange`, so that no two can deadlock.
 */
export const lockProducts = (
  tx: Db,
  service: Service,
  { products: productIds = [], skus = [] }: { products?: readonly string[]; skus?: readonly string[] },
) =>
  lockProductRows(
    tx,
    service,
    sql`and p.product_id = any(array(
      select unnest(${productIds}::text[])
       union all select product_id from variant where service_id = ${opaqueServiceId(service)} and sku_id = any(${skus})))`,
  )

/**
 * Renders products `p` after a change of something they show. `where` must begin with `and`; `sourceTime` is their change time in the
 * source. Returns the IDs of the products that differ.
 */
export async function renderProducts(
  tx: Db,
  service: Service,
  change: Change,
  where: Sql,
  sourceTime = sql`null::timestamp`,
): Promise<Set<string>> {
  await lockProductRows(tx, service, where)
  const newTimestamp = changeTimestamp({ sourceTime, previous: sql`p.changed_at` }, service, change)
  const rows = await tx.rows<{ product_id: string }>(sql`
    update product set record = ${withChangeTimestamp(sql`r.body`, sql`r.new_timestamp`, service, change)}, changed_at = r.new_timestamp
      from ${materialized(sql`select p.product_id, ${body(service)} as body, ${newTimestamp} as new_timestamp from product p where p.service_id = ${opaqueServiceId(service)} ${where}`)} r
     where product.service_id = ${service.id} and product.product_id = r.product_id
       and not ${hasSameBody(sql`product.record`, sql`r.body`)}
    returning product.product_id`)
  return new Set(rows.map(row => row.product_id))
}

/** Merges rows with the same key. The fields of later rows win. */
function mergeByKey<T extends object>(rows: readonly T[], key: (row: T) => unknown): T[] {
  const byKey = new Map<unknown, T>()
  for (const row of rows) byKey.set(key(row), { ...byKey.get(key(row)), ...row })
  return [...byKey.values()]
}

interface Filters {
  code?: string | undefined
  sku?: string | undefined
  updatedAfter?: string | undefined
  /** True to include removed products. Requires `updatedAfter`. */
  removed?: boolean | undefined
}

const productsWithTombstones = (service: Service) => sql`(
  select service_id, changed_at, product_id, product_code, record from product
  union all
  (select service_id, changed_at, key, null::text, record
     from (${selectTombstones(service, 'product', sql`product_id`)}) removed order by changed_at, key)) product`

/** Reads a page of products (`Product`): by change, or by ID if only `code` or `sku` is set. */
export const readProductPage = (
  db: Db,
  service: Service,
  { code, sku, updatedAfter, removed = false }: Filters,
  request: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: removed ? productsWithTombstones(service) : 'product',
      timestampSource: 'product',
      withTombstones: removed,
      record: sql`record`,
      ...((code === undefined && sku === undefined) || updatedAfter !== undefined
        ? { order: byChangeTimestamp }
        : { live: true }),
      key: sql`product_id`,
      where: sql`
        ${filter(code, value => sql`and product_code = ${value}`)}
        ${filter(sku, value => sql`and product_id = (select product_id from variant where service_id = ${service.id} and sku = ${value})`)}`,
      changedAfter: updatedAfter,
    },
    request,
  )

/** Returns the JSON of a product. */
export const findProduct = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(sql`select record from product where service_id = ${service.id} and product_id = ${id}`)
