import { after, afterEach } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts'
import type { Connection } from '../../src/backoffice/apparel21/client/connection.ts'
import { buildSyncs } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { BackOffice } from '../../src/backoffice/port/back-office.ts'
import { sql } from '../../src/database/db.ts'
import type { Settings } from '../../src/domain/tenancy/service-settings.ts'
import { createWriteRegistry } from '../../src/http/routing/write-registry.ts'
import { routes } from '../../src/resources/resources.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { claimInDoubtWrite } from '../../src/store/writes/intents.ts'
import { runSync, type SyncOptions } from '../../src/sync/sync.ts'
import { createSender } from '../../src/webhooks/sender.ts'
import { recoverWrite } from '../../src/writes/recover.ts'
import type { CommitPhase } from '../../src/writes/write.ts'
import { connectToBackOffice, settings } from '../drivers/apparel21.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

/** An item for sale, with its price in dollars. */
export interface SaleItem {
  sku: string
  price: string
}

/** An API server in front of a simulator that always has the same shop. Its tables are synced. */
export interface Shop {
  simulator: Simulator
  api: TestApi
  /** Runs a sync, by default a full one. */
  sync(sync: string, options?: SyncOptions): Promise<void>
  /** Lets the next `writes` writes fail immediately before they commit, as if the process were killed. */
  failCommits(writes: number): void
  /** Recovers all writes in doubt, as the job does, with changed settings if any. Returns the number of writes. */
  recoverWrites(laterSettings?: Partial<Settings>): Promise<number>
  /**
   * Starts another server of this installation, as another process would be: with its own connection to the back
   * office and, if given, another connection to the database.
   */
  startSecondServer(connection?: string): Promise<TestApi>
  /** Removes all faults, including failing commits, and clears the ledger. */
  reset(): Promise<void>
  /** Returns two SKUs that have a price. */
  findItems(): { tee: SaleItem; hat: SaleItem }
  stop(): Promise<void>
}

/** The merchants that the simulator accepts, and a wrong one. */
const gateways: Connection['gateways'] = {
  paypal: { merchantId: 'PAYPAL', cardType: 'PP' },
  visa: { merchantId: 'SIMPAY', cardType: 'VISA' },
  wrong: { merchantId: 'NOBODY' },
}

/** Short timeouts, and a circuit breaker that never opens, because the tests cause the outages. */
const limits = { deadlineMs: 2_000, failureThreshold: 1_000, patienceMs: 0 }

export async function openShop(
  settingsChange: Partial<Settings> = {},
  simulatorOptions: SimulatorOptions = {},
): Promise<Shop> {
  const simulator = await startSimulator({
    sizes: { stores: 5, styles: 12, persons: 60, vouchers: 5 },
    ...simulatorOptions,
  })
  const { client, release, backOffice } = connectToBackOffice(simulator, { gateways, limits })
  let remainingFailures = 0
  const api = await startTestApi({
    settings: { ...settings, ...settingsChange },
    role: 'maintainer',
    backOffice: service => failBeforeCommit(backOffice(service)),
  })
  await upsertGateways(api.db, api.service, [{ name: 'paypal' }, { name: 'visa' }, { name: 'wrong' }, { name: 'cash' }])
  const stopFunctions: (() => Promise<void>)[] = []
  const syncs = buildSyncs(client, release)
  const sync = async (name: string, options: SyncOptions = { full: true }) => {
    const definition = syncs.find(candidate => candidate.name === name)
    if (!definition) throw new Error(`Sync ${name} not found`)
    await runSync(api.db, api.service, definition, options)
  }
  for (const name of ['references', 'stores', 'products', 'stock', 'customers']) await sync(name)
  simulator.ledger.clear()

  function failBeforeCommit(driver: BackOffice): BackOffice {
    const withFailingCommit = async <T>(work: Promise<CommitPhase<T>>): Promise<CommitPhase<T>> => {
      const finish = await work
      return async tx => {
        const done = await finish(tx)
        if (remainingFailures-- > 0) throw new Error('The process is killed.')
        return done
      }
    }
    return {
      ...driver,
      createCustomer: (...input) => withFailingCommit(driver.createCustomer(...input)),
      updateCustomer: (...input) => withFailingCommit(driver.updateCustomer(...input)),
      placeOrder: (...input) => withFailingCommit(driver.placeOrder(...input)),
      createReturn: (...input) => withFailingCommit(driver.createReturn(...input)),
    }
  }
  return {
    simulator,
    api,
    sync,
    failCommits(writes) {
      remainingFailures = writes
    },
    async recoverWrites(laterSettings = {}) {
      const { db, keys, service } = api
      await db.run(sql`update intent set next_check_at = now(), claimed_until = least(claimed_until, now())`)
      const registry = createWriteRegistry(routes, {
        keys,
        backOffice,
        driver: () => ({ isEmbedded: false, syncs, breaker: undefined }),
        sender: createSender([]),
      })
      const writeIds = new Set<string>()
      for (let write = await claimInDoubtWrite(db, keys); write; write = await claimInDoubtWrite(db, keys)) {
        writeIds.add(write.id)
        await recoverWrite(
          { context: { db, keys }, registry, log: pino({ level: 'silent' }) },
          { ...service, settings: { ...service.settings, ...laterSettings } },
          write,
        )
      }
      return writeIds.size
    },
    async startSecondServer(connection = api.database.connection) {
      const ownBackOffices = connectToBackOffice(simulator, { gateways, limits })
      const withConnection = { ...api, database: { ...api.database, connection } }
      const second = await startTestApi({ sharedWith: withConnection, backOffice: ownBackOffices.backOffice })
      stopFunctions.push(() => second.stop().then(ownBackOffices.client.close))
      return second
    },
    async reset() {
      remainingFailures = 0
      simulator.faults.clear()
      await simulator.accept()
      simulator.ledger.clear()
    },
    findItems() {
      const priced = [...simulator.state.skus.values()].filter(
        ({ colour, price }) => !colour.style.special && price > 0,
      )
      const [tee, hat] = priced.map(({ id, price }) => ({ sku: String(id), price: price.toFixed(2) }))
      if (!tee || !hat) throw new Error('The simulator has fewer than two SKUs with a price.')
      return { tee, hat }
    },
    async stop() {
      for (const stop of stopFunctions) await stop()
      await api.stop()
      client.close()
      await simulator.close()
    },
  }
}

/** Opens a shop for the tests of a file. It is reset after each test and closed after all. */
export async function startShopFixture(...input: Parameters<typeof openShop>): Promise<Shop> {
  const shop = await openShop(...input)
  after(() => shop.stop())
  afterEach(() => shop.reset())
  return shop
}

/** Texts with XML markup, entities and non-ASCII characters. */
export const hostileTexts = [
  '</Firstname><Code>X1</Code>',
  ']]><!--',
  '<![CDATA[x]]>',
  '&lt;&amp;&#65;',
  `"'&%<>`,
  'Zoë 🦘 Ωμέγα',
  '&file; &a12;',
]

/** Counts the rows of a table that belong to a caller's service. */
export const countRows = async (caller: Caller, { db }: Pick<TestApi, 'db'>, table: string) => {
  const { rows } = await db.pool.query(`select count(*)::integer as n from ${table} where service_id = $1`, [
    caller.service.id,
  ])
  return rows[0].n as number
}
