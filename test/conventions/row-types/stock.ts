import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import { renderStaleStock } from '../../../src/jobs/render-stock.ts'
import { changeSettings } from '../../../src/store/tenancy/settings.ts'
import type { TestApi } from '../../support/service.ts'

/** Renders all stock of the service again, and lets the job render the stock of each store and SKU again. */
export async function tourStaleStock({ db, service }: TestApi) {
  for (const inventoryBuffer of [1, null]) await db.transaction(tx => changeSettings(tx, service, { inventoryBuffer }))
  await db.run(sql`
    insert into stock_rerender (service_id, stock_column, id)
    select service_id, shown, stale.id from stock, lateral (values ('store_id', store_id), ('sku_id', sku_id)) stale (shown, id)
     where service_id = ${service.id} on conflict do nothing`)
  await renderStaleStock(db, new AbortController().signal)
  assert.deepEqual(await db.rows(sql`select from stock_rerender`), [])
}
