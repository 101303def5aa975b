import assert from 'node:assert/strict'
import { startShopifySimulator } from '../../../simulator/shopify/simulator.ts'
import { sql } from '../../../src/database/db.ts'
import { defaultConnection, platformSyncs } from '../../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../../src/ecommerce/connections.ts'
import { runPlatformSync } from '../../../src/ecommerce/run-platform-sync.ts'
import { readPoints } from '../../../src/store/ecommerce/budget.ts'
import {
  deleteConnection,
  deleteToken,
  listPlatformSyncs,
  lockConnection,
  setConnection,
} from '../../../src/store/ecommerce/connections.ts'
import { upsertPlatformItems } from '../../../src/store/ecommerce/items.ts'
import { mapExactMatches } from '../../../src/store/mappings/automatic-fixes.ts'
import type { TestApi } from '../../support/service.ts'

/** Connects the service to a shop, reads it, and removes the connection. */
export async function readEcommerce({ db, keys, service, ...api }: TestApi) {
  const simulator = await startShopifySimulator()
  try {
    const { url, settings } = simulator
    await db.transaction(async tx => {
      await setConnection(
        tx,
        keys,
        service,
        { ...defaultConnection, url, clientId: settings.clientId },
        settings.clientSecret,
      )
      assert.ok(await lockConnection(tx, keys, service))
    })
    assert.equal((await listPlatformSyncs(db)).length, platformSyncs.length)
    const opened = await openPlatform(db, keys, service, { warn() {} })
    assert.ok(opened)
    assert.equal((await opened.platform.probe(AbortSignal.timeout(30_000))).currency, 'AUD')
    assert.ok(await readPoints(db, service, opened.connectionId))
    for (const name of platformSyncs) assert.ok(await runPlatformSync(db, keys, service, name, { warn() {} }))
    assert.equal((await api.get('/syncs')).status, 200)
    await followRenamedSku(db, service)
    await mapExactMatches(db, service, AbortSignal.timeout(30_000))
    await deleteToken(db, keys, service, opened.connectionId, 'another')
    await db.transaction(tx => deleteConnection(tx, service))
  } finally {
    await simulator.close()
  }
}

/** Renames the SKU of a variant that one of our SKUs is mapped to, and the SKU back. */
async function followRenamedSku(db: TestApi['db'], service: TestApi['service']) {
  const [variant] = await db.rows<{ sku: string }>(
    sql`select sku from variant where service_id = ${service.id} limit 1`,
  )
  assert.ok(variant)
  for (const [at, ecommerceId] of [variant.sku, 'Renamed', variant.sku].entries())
    await upsertPlatformItems(db, service, [
      {
        kind: 'skus',
        itemKey: '99',
        ecommerceId,
        name: null,
        other: null,
        platformId: 'gid://shopify/ProductVariant/99',
        updatedAt: `2026-11-02T10:00:0${at}Z`,
      },
    ])
}
