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
import { behind, settings } from '../drivers/apparel21.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

/** An item that the simulated shop sells. */
export interface Sold {
  sku: string
  price: string
}

/** The API in front of a simulator that has the same shop each time, filled with what can be read of it. */
export interface Shop {
  simulator: Simulator
  api: TestApi
  /** Runs a sync, by default a full one. */
  sync(sync: string, options?: SyncOptions): Promise<void>
  /** The next so many writes are undone when all of their work is done, as where the process is killed before it commits. */
  undo(writes: number): void
  /** Follows up what was left open, as the job does once it is due, with settings as they are by then. Returns how many. */
  followUp(changed?: Partial<Settings>): Promise<number>
  /**
   * Starts another server of this installation, as another process would be: with its own connection to the back
   * office and, if given, another connection to the database.
   */
  secondServer(connection?: string): Promise<TestApi>
  /** Resets the simulator: no faults, no undoing, an empty ledger. */
  reset(): Promise<void>
  /** Two SKUs with a price. */
  sold(): { tee: Sold; hat: Sold }
  stop(): Promise<void>
}

/** Merchants as the simulator has them set up. */
const gateways: Connection['gateways'] = {
  paypal: { merchantId: 'PAYPAL', cardType: 'PP' },
  visa: { merchantId: 'SIMPAY', cardType: 'VISA' },
  wrong: { merchantId: 'NOBODY' },
}

/** Short, and never at rest: outages are of the tests' making. */
const limits = { deadlineMs: 2_000, failureThreshold: 1_000, patienceMs: 0 }

export async function openShop(own: Partial<Settings> = {}, simulated: SimulatorOptions = {}): Promise<Shop> {
  const simulator = await startSimulator({
    sizes: { stores: 5, styles: 12, persons: 60, vouchers: 5 },
    ...simulated,
  })
  const { client, release, backOffice } = behind(simulator, { gateways, limits })
  let undone = 0
  const api = await startTestApi({
    settings: { ...settings, ...own },
    role: 'maintainer',
    backOffice: service => undoing(backOffice(service)),
  })
  await upsertGateways(api.db, api.service, [{ name: 'paypal' }, { name: 'visa' }, { name: 'wrong' }, { name: 'cash' }])
  const seconds: (() => Promise<void>)[] = []
  const syncs = buildSyncs(client, release)
  const sync = async (name: string, options: SyncOptions = { full: true }) => {
    const definition = syncs.find(candidate => candidate.name === name)
    if (!definition) throw new Error(`There is no sync ${name}`)
    await runSync(api.db, api.service, definition, options)
  }
  for (const name of ['references', 'stores', 'products', 'stock', 'customers']) await sync(name)
  simulator.ledger.clear()

  function undoing(driver: BackOffice): BackOffice {
    const afterCommit = async <T>(work: Promise<CommitPhase<T>>): Promise<CommitPhase<T>> => {
      const finish = await work
      return async tx => {
        const done = await finish(tx)
        if (undone-- > 0) throw new Error('The process is killed.')
        return done
      }
    }
    return {
      ...driver,
      createCustomer: (...input) => afterCommit(driver.createCustomer(...input)),
      updateCustomer: (...input) => afterCommit(driver.updateCustomer(...input)),
      placeOrder: (...input) => afterCommit(driver.placeOrder(...input)),
      createReturn: (...input) => afterCommit(driver.createReturn(...input)),
    }
  }
  return {
    simulator,
    api,
    sync,
    undo(writes) {
      undone = writes
    },
    async followUp(changed = {}) {
      const { db, keys, service } = api
      await db.run(sql`update intent set next_check_at = now(), claimed_until = least(claimed_until, now())`)
      const registry = createWriteRegistry(routes, {
        keys,
        backOffice,
        driver: () => ({ isEmbedded: false, syncs, breaker: undefined }),
        sender: createSender([]),
      })
      const seen = new Set<string>()
      for (let write = await claimInDoubtWrite(db, keys); write; write = await claimInDoubtWrite(db, keys)) {
        seen.add(write.id)
        await recoverWrite(
          { context: { db, keys }, registry, log: pino({ level: 'silent' }) },
          { ...service, settings: { ...service.settings, ...changed } },
          write,
        )
      }
      return seen.size
    },
    async secondServer(connection = api.database.connection) {
      const ownBackOffices = behind(simulator, { gateways, limits })
      const withConnection = { ...api, database: { ...api.database, connection } }
      const second = await startTestApi({ sharedWith: withConnection, backOffice: ownBackOffices.backOffice })
      seconds.push(() => second.stop().then(ownBackOffices.client.close))
      return second
    },
    async reset() {
      undone = 0
      simulator.faults.clear()
      await simulator.accept()
      simulator.ledger.clear()
    },
    sold() {
      const priced = [...simulator.state.skus.values()].filter(
        ({ colour, price }) => !colour.style.special && price > 0,
      )
      const [tee, hat] = priced.map(({ id, price }) => ({ sku: String(id), price: price.toFixed(2) }))
      if (!tee || !hat) throw new Error('The simulator sells something.')
      return { tee, hat }
    },
    async stop() {
      for (const stop of seconds) await stop()
      await api.stop()
      client.close()
      await simulator.close()
    },
  }
}

/** Opens a shop for the tests of a file. It is reset after each test and closed after all. */
export async function shopOfTests(...input: Parameters<typeof openShop>): Promise<Shop> {
  const shop = await openShop(...input)
  after(() => shop.stop())
  afterEach(() => shop.reset())
  return shop
}

/** Texts that mean something to XML, or to those who read it. */
export const hostile = [
  '</Firstname><Code>X1</Code>',
  ']]><!--',
  '<![CDATA[x]]>',
  '&lt;&amp;&#65;',
  `"'&%<>`,
  'Zoë 🦘 Ωμέγα',
  '&file; &a12;',
]

/** Rows of a table that belong to a caller's service. */
export const count = async (caller: Caller, { db }: Pick<TestApi, 'db'>, table: string) => {
  const { rows } = await db.pool.query(`select count(*)::integer as n from ${table} where service_id = $1`, [
    caller.service.id,
  ])
  return rows[0].n as number
}
