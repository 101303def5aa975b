import assert from 'node:assert/strict'
import { after, afterEach, type TestContext } from 'node:test'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { type Client, createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import type { Limits } from '../../../src/backoffice/apparel21/client/connection.ts'
import { createReleaseReader, type ReleaseReader } from '../../../src/backoffice/apparel21/client/release.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { runSync, type SyncOptions } from '../../../src/sync/sync.ts'
import { openImportShop, type Shop } from '../../support/import-shop.ts'
import { loadSyncStates } from './states.ts'

export const timeZone = 'Australia/Melbourne'
export const sizes = { stores: 8, styles: 24, persons: 60, vouchers: 1 }

/** A service that is synced from its own simulator. */
export interface SyncFixture {
  simulator: Simulator
  shop: Shop
  service: Service
  client: Client
  release: ReleaseReader
  sync(sync: string, options?: SyncOptions): ReturnType<typeof runSync>
  /** Runs every sync, one after the other. */
  syncAll(options?: SyncOptions): Promise<void>
  loadState(sync: string): Promise<Awaited<ReturnType<typeof loadSyncStates>>[number] | undefined>
  close(): Promise<void>
}

/** Starts a fixture for one test. It is closed after the test. */
export async function startSyncFixtureFor(
  t: TestContext,
  ...options: Parameters<typeof startSyncFixture>
): Promise<SyncFixture> {
  const fixture = await startSyncFixture(...options)
  t.after(() => fixture.close())
  return fixture
}

/** Starts a fixture for the tests of a file and runs all syncs. Faults are removed after each test. */
export async function startFilledSyncFixture(): Promise<SyncFixture> {
  const fixture = await startSyncFixture()
  after(() => fixture.close())
  afterEach(() => {
    fixture.simulator.faults.clear()
    fixture.simulator.ledger.clear()
  })
  await fixture.syncAll()
  return fixture
}

/** Starts a fixture that is not synced yet: see `syncAll`. The caller closes it. */
export async function startSyncFixture(
  options: Parameters<typeof startSimulator>[0] = {},
  limitsChange: Partial<Limits> = {},
): Promise<SyncFixture> {
  const shop = await openImportShop()
  const simulator = await startSimulator({ sizes, ...options })
  const service = { ...shop.service, settings: { ...shop.service.settings, currency: 'AUD', timeZone } }
  const limits = { pageRows: 10, failureThreshold: 1_000, patienceMs: 0, ...limitsChange }
  const client = createClient({ url: simulator.url, countryCode: 'AU', timeZone, limits })
  const release = createReleaseReader(client)
  const syncs = buildSyncs(client, release)
  const sync: SyncFixture['sync'] = (name, syncOptions) => {
    const definition = syncs.find(candidate => candidate.name === name)
    assert.ok(definition, name)
    return runSync(shop.db, service, definition, syncOptions)
  }
  return {
    simulator,
    shop,
    service,
    client,
    release,
    sync,
    async syncAll(syncOptions) {
      for (const { name } of syncs) await sync(name, syncOptions)
    },
    loadState: async name => (await loadSyncStates(shop.db, service)).find(({ sync: stateName }) => stateName === name),
    async close() {
      client.close()
      await simulator.close()
      await shop.close()
    },
  }
}

/** Counts the rows of a table that match an SQL condition. */
export const countRows = async ({ shop }: SyncFixture, table: string, where = 'true') =>
  (await shop.queryRows(`select count(*)::integer as n from ${table} where ${where}`))[0].n
/** Returns a customer's record, or undefined if the customer is missing. */
export const loadCustomer = async (id: number, { shop }: SyncFixture) => {
  const [row] = await shop.queryRows(`select record from customer where id = '${id}'`)
  return row && JSON.parse(`${row.record}}`)
}
export const loadFreeStock = async (
  skuId: number,
  storeId: number,
  { shop }: SyncFixture,
): Promise<number | undefined> =>
  (await shop.queryRows(`select free_stock::float from stock where sku_id = '${skuId}' and store_id = '${storeId}'`))[0]
    ?.free_stock
export const getPersonIds = ({ simulator }: SyncFixture) => [...simulator.state.persons.keys()]
/** Lists the SKUs and locations with more than 0 units in the back office. */
export function findStocked({ simulator: { state } }: SyncFixture) {
  return [...state.skus.values()].flatMap(sku =>
    [...state.stores.values()].flatMap(store => {
      const quantity = state.stock.get(sku.row, store.column)
      return quantity > 0 ? [{ skuId: sku.id, storeId: store.id, quantity }] : []
    }),
  )
}
