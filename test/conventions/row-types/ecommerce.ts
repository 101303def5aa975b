import assert from 'node:assert/strict'
import { startShopifySimulator } from '../../../simulator/shopify/simulator.ts'
import { defaultConnection } from '../../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../../src/ecommerce/connections.ts'
import { readPoints } from '../../../src/store/ecommerce/budget.ts'
import {
  deleteConnection,
  deleteToken,
  listConnections,
  lockConnection,
  setConnection,
} from '../../../src/store/ecommerce/connections.ts'
import type { TestApi } from '../../support/service.ts'

/** Connects the service to a shop, reads it, and removes the connection. */
export async function readEcommerce({ db, keys, service }: TestApi) {
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
    assert.equal((await listConnections(db, keys)).length, 1)
    const opened = await openPlatform(db, keys, service, { warn() {} })
    assert.ok(opened)
    assert.equal((await opened.platform.probe(AbortSignal.timeout(30_000))).currency, 'AUD')
    assert.ok(await readPoints(db, service, opened.connectionId))
    await deleteToken(db, keys, service, opened.connectionId, 'another')
    await db.transaction(tx => deleteConnection(tx, service))
  } finally {
    await simulator.close()
  }
}
