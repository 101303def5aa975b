import { sql } from '../../../src/database/db.ts'
import { defaultConnection } from '../../../src/domain/ecommerce/connection-settings.ts'
import { setConnection } from '../../../src/store/ecommerce/connections.ts'
import { checkMappings } from '../../../src/store/mappings/check-all.ts'
import type { TestApi } from '../service.ts'

/** Stores platform items for the demo shop's SKUs, most of them as mapped, and checks the mappings. */
export async function createPlatformItems({ db, service }: TestApi) {
  await db.run(sql`
    insert into ecommerce_item (service_id, kind, item_key, ecommerce_id, name, other, seen_at)
    select v.service_id, 'skus', v.sku_id, case when n % 190 = 3 then lower(v.sku) when n % 310 = 5 then replace(v.sku, '-', ' -') when n % 230 = 7 then v.sku || '-OLD' else v.sku end,
           initcap(replace(p.product_code, '-', ' ')) || ': ' || coalesce(c.code, '') || ' / ' || v.size_code, case when n % 310 <> 5 then v.barcode end, now() - interval '40 minutes'
      from (select *, row_number() over (order by sku_id) as n from variant where service_id = ${service.id}) v
      join product p using (service_id, product_id) join colour c using (service_id, product_id, colour_id)`)
  await db.run(sql`
    insert into mapping_check (service_id, kind, listed_at, listed)
    select ${service.id}, 'skus', now() - interval '40 minutes', count(*) from ecommerce_item where service_id = ${service.id} and kind = 'skus'`)
  await checkMappings(db, service)
}

/** Connects the demo shop to a platform whose stock waits for the first push. Returns the ID of a comparison that found drift. */
export async function createPlatformConnection({ db, keys, service }: TestApi): Promise<string> {
  const reconciliation = '019a1f0e-7c11-7b6e-9d0f-2b7d3c1a8e44'
  const [item, location] = ['gid://shopify/InventoryItem/43729076', 'gid://shopify/Location/24826418']
  const level = sql`${service.id}, 'main', ${item}, ${location}`
  const connection = { ...defaultConnection, url: 'https://example.myshopify.com', clientId: 'tillbridge' }
  const differences = [{ sku: 'MH01-XS-Black', itemId: item, locationId: location, knownOnHand: 3, desiredOnHand: 7 }]
  await db.transaction(async tx => {
    await setConnection(tx, keys, service, { ...connection, stockPush: 'dryRun' }, 'secret')
    await tx.run(sql`
      insert into ecommerce_level (service_id, connection_id, item_id, location_id, known_on_hand, hold_reason)
      values (${level}, 3, 'unmapped')`)
    await tx.run(sql`
      insert into ecommerce_reconciliation (service_id, connection_id, reconciliation_id, started_at, ended_at, state, is_dry_run, counts, differences)
      values (${service.id}, 'main', ${reconciliation}, now() - interval '3 minutes', now() - interval '2 minutes', 'completed', true,
              '{"compared": 1, "drifted": 1, "rising": 1}', ${JSON.stringify(differences)}::jsonb)`)
    await tx.run(sql`
      insert into ecommerce_drift (service_id, connection_id, reconciliation_id, item_id, location_id, known_on_hand, observed_on_hand, changed_by)
      values (${service.id}, 'main', ${reconciliation}, ${item}, ${location}, 3, 2, 'Stocktake app')`)
  })
  return reconciliation
}
