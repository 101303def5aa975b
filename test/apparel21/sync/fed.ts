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
import { syncStates } from './states.ts'

export const timeZone = 'Australia/Melbourne'
export const sizes = { stores: 8, styles: 24, persons: 60, vouchers: 1 }

/** A service that is fed by a simulator of its own. */
export interface Fed {
  simulator: Simulator
  shop: Shop
  service: Service
  client: Client
  release: ReleaseReader
  sync(sync: string, options?: SyncOptions): ReturnType<typeof runSync>
  /** Every sync in turn. */
  syncAll(options?: SyncOptions): Promise<void>
  state(sync: string): Promise<Awaited<ReturnType<typeof syncStates>>[number] | undefined>
  close(): Promise<void>
}

/** One for a single test, which is closed with it. */
export async function fedFor(t: TestContext, ...options: Parameters<typeof openFed>): Promise<Fed> {
  const fed = await openFed(...options)
  t.after(() => fed.close())
  return fed
}

/** One for the tests of a file, which has been read from; without faults after each. */
export async function fedOfTests(): Promise<Fed> {
  const fed = await openFed()
  after(() => fed.close())
  afterEach(() => {
    fed.simulator.faults.clear()
    fed.simulator.ledger.clear()
  })
  await fed.syncAll()
  return fed
}

/** It is not read from yet: see `syncAll`. */
export async function openFed(
  options: Parameters<typeof startSimulator>[0] = {},
  own: Partial<Limits> = {},
): Promise<Fed> {
  const shop = await openImportShop()
  const simulator = await startSimulator({ sizes, ...options })
  const service = { ...shop.service, settings: { ...shop.service.settings, currency: 'AUD', timeZone } }
  const limits = { pageRows: 10, failureThreshold: 1_000, patienceMs: 0, ...own }
  const client = createClient({ url: simulator.url, countryCode: 'AU', timeZone, limits })
  const release = createReleaseReader(client)
  const syncs = buildSyncs(client, release)
  const sync: Fed['sync'] = (name, how) => {
    const definition = syncs.find(candidate => candidate.name === name)
    assert.ok(definition, name)
    return runSync(shop.db, service, definition, how)
  }
  return {
    simulator,
    shop,
    service,
    client,
    release,
    sync,
    async syncAll(how) {
      for (const { name } of syncs) await sync(name, how)
    },
    state: async name => (await syncStates(shop.db, service)).find(state => state.sync === name),
    async close() {
      client.close()
      await simulator.close()
      await shop.close()
    },
  }
}

/** How many rows a table has. */
export const count = async ({ shop }: Fed, table: string, where = 'true') =>
  (await shop.queryRows(`select count(*)::integer as n from ${table} where ${where}`))[0].n
/** A customer's record. */
export const customer = async (id: number, { shop }: Fed) => {
  const [row] = await shop.queryRows(`select record from customer where id = '${id}'`)
  return row && JSON.parse(`${row.record}}`)
}
export const stockOf = async (skuId: number, storeId: number, { shop }: Fed): Promise<number | undefined> =>
  (await shop.queryRows(`select free_stock::float from stock where sku_id = '${skuId}' and store_id = '${storeId}'`))[0]
    ?.free_stock
export const personIds = ({ simulator }: Fed) => [...simulator.state.persons.keys()]
/** The SKUs in locations that have stock of them. */
export function stocked({ simulator: { state } }: Fed) {
  return [...state.skus.values()].flatMap(sku =>
    [...state.stores.values()].flatMap(store => {
      const quantity = state.stock.at(sku.row, store.column)
      return quantity > 0 ? [{ skuId: sku.id, storeId: store.id, quantity }] : []
    }),
  )
}
