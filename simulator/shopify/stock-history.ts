import type { StockAdjustment } from './state.ts'
import { type ShopifyWorld, toInstant } from './world.ts'

/** The columns of the table `inventory_adjustment_history` that Tillbridge uses. */
const columns: Readonly<Record<string, (adjustment: StockAdjustment) => unknown>> = {
  second: ({ at }) => toInstant(at),
  inventory_item_id: ({ itemId }) => String(itemId),
  inventory_location_id: ({ locationId }) => String(locationId),
  inventory_app_name: ({ appName }) => appName,
  staff_member_name: ({ staffName }) => staffName,
  reference_document_uri: ({ documentUri }) => documentUri,
}

const supportedQuery =
  /^FROM inventory_adjustment_history\s+SHOW inventory_adjustment_change\s+SINCE (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\s+GROUP BY ([\w, ]+?)\s+ORDER BY second DESC\s+LIMIT (\d+)$/

/** Returns the result of a ShopifyQL query of the stock history. Any other query has a parse error. */
export function queryStockHistory({ shop }: ShopifyWorld, query: string) {
  const [, since = '', grouped = '', limit = ''] = supportedQuery.exec(query.trim()) ?? []
  const names = grouped.split(',').map(name => name.trim())
  const unknown = names.filter(name => !Object.hasOwn(columns, name))
  if (since === '' || unknown.length)
    return { tableData: null, parseErrors: [`The query is not supported: ${unknown.join(', ')}`] }
  const rows = shop.adjustments
    .filter(({ at }) => at >= Date.parse(`${since}Z`))
    .toReversed()
    .slice(0, Number(limit))
    .map(adjustment => ({
      ...Object.fromEntries(names.map(name => [name, columns[name]?.(adjustment)])),
      inventory_adjustment_change: String(adjustment.delta),
    }))
  return { tableData: { rows }, parseErrors: [] }
}
