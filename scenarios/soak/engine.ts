/**
 * Runs an installation of real processes under shoppers, staff, faults and kills, then checks that nothing was lost or done twice.
 * Parts, in ../support: actors/ (shoppers, staff, observers), fault-schedule.ts, kill-schedule.ts, operations/ (client, history), checks/.
 * Everything random comes from the seed. Chaos and soak are two configurations of it.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { randomFor } from '../../seed/random.ts'
import { demoSettings, fillDemoShop, makeDemoShop } from '../../seed/shop.ts'
import type { Size } from '../../simulator/generate/shop.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { observeRemovals, polledListNames, pollList } from '../support/actors/observers.ts'
import {
  type Customer,
  openShopperClient,
  runShopper,
  type ShopperClient,
  type ShopperContext,
  type Voucher,
} from '../support/actors/shoppers.ts'
import { runStaff, type StaffWork } from '../support/actors/staff.ts'
import { apparel21Settings, openBackOffice, runAllSyncs, waitForInitialSyncs } from '../support/back-office.ts'
import { connectBackOffice } from '../support/back-office-connection.ts'
import { runChecks } from '../support/checks/checks.ts'
import { waitUntilEmailsAreSent } from '../support/checks/mail.ts'
import { type BackOfficeName, pickCrashPoint } from '../support/crash-points.ts'
import type { CheckResult } from '../support/expectations/check.ts'
import { type FaultSchedule, runFaultSchedule } from '../support/fault-schedule.ts'
import { type Installation, openInstallation } from '../support/installation.ts'
import { type KillSchedule, startKilling } from '../support/kill-schedule.ts'
import {
  expireLeases,
  expireLeasesOfProcess,
  recordLeaseOwners,
  waitUntilSyncsEnd,
  waitUntilWritesAreRecovered,
} from '../support/leases.ts'
import { openMailbox } from '../support/mailbox.ts'
import { History } from '../support/operations/history.ts'

export const randomSeed = () => randomInt(1, 1_000_000)

export interface ScenarioOptions {
  seed: number
  backOffice: BackOfficeName
  shoppers: number
  /** Runs Tillbridge's processes with short timeouts and intervals of the back office. */
  isSpedUp: boolean
  /** Runs back-office staff and tills, and compares all lists with the back office. Needs `isSpedUp`. */
  hasStaff: boolean
  faults: FaultSchedule
  kills: KillSchedule
  /** Probability that a process starts with a crash point. */
  crashChance: number
  /** Probability that a shopper abandons a write after an attempt that left its result open. */
  abandonChance: number
  /** A database that is migrated and empty. Default: a bundled PostgreSQL. */
  database?: { url: string; stop(): Promise<void> }
  sizes?: Partial<Size>
  release?: string
  isUnexpected: (line: string) => boolean
  isFinished: (progress: Progress) => boolean
  /** Called several times a second. */
  onProgress?: (progress: Progress) => void
}

export interface Progress {
  seconds: number
  kills: number
  writes: number
  /** Changes by back-office staff and tills. */
  changes: number
  /** Attempts that left their result open. */
  retries: number
}

/** A run that is over; its installation still runs. */
export interface ScenarioRun {
  installation: Installation
  history: History
  simulator: Awaited<ReturnType<typeof openBackOffice>>['simulator'] | undefined
  /** Number of requests that met each fault, and of changes by staff, by kind. */
  faults: ReadonlyMap<string, number>
  changes: ReadonlyMap<string, number>
  /** Lists the killed processes, the number of their kills, and the crash points. */
  kills: string
  /** Runs all checks. Can be called several times. */
  check(): Promise<CheckResult[]>
  close(): Promise<void>
}

const spedUpProgram = fileURLToPath(new URL('../support/sped-up-process.ts', import.meta.url))
/** Milliseconds after a kill until the back office has finished all requests of the killed process. */
const upstreamGraceMs = 2_500
/** The run lasts up to this long until each type of operation was acknowledged: a type without an acknowledgement isn't checked. */
const maxSecondsForAllTypes = 180

const returnReasons = [
  { code: 'SIZE', name: 'Wrong size' },
  { code: 'FAULTY', name: 'Faulty' },
]
const gateways = { card: 'card', voucher: 'gift-voucher' }

/** Runs a scenario until `isFinished`, ends all faults, and waits until all writes are reconciled. */
export async function runScenario(options: ScenarioOptions): Promise<ScenarioRun> {
  const { seed, backOffice: backOfficeName, isSpedUp, shoppers, onProgress = () => {} } = options
  const createRandom = (part: string) => randomFor(`${seed} ${part}`)
  const history = new History()
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end()
  }
  let phase: 'running' | 'finishing' | 'over' = 'running'
  const isOver = () => phase !== 'running'
  const isDone = () => phase === 'over'

  try {
    const directory = mkdtempSync(join(tmpdir(), 'tillbridge-scenario-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    const backOffice =
      backOfficeName === 'apparel21'
        ? await openBackOffice({
            seed,
            directory,
            isSpedUp,
            sizes: options.sizes ?? { stores: 4, styles: 12, persons: 40, vouchers: 20 },
            release: options.release ?? '2025.1',
          })
        : undefined
    if (backOffice) closers.push(backOffice.close)
    const mailbox = backOffice ? undefined : await openMailbox(rejectOneInTen(createRandom('mailbox')))
    if (mailbox) closers.push(mailbox.close)
    const installation = await openInstallation({
      apis: 2,
      workers: 2,
      database: options.database,
      settings: {
        ...(backOffice ? apparel21Settings : demoSettings),
        returnReasons,
        readsPerMinute: 'off',
        writesPerMinute: 'off',
      },
      program: isSpedUp ? spedUpProgram : undefined,
      environment: { DATABASE_POOL: '6', ...backOffice?.environment, ...(mailbox && { SMTP_URL: mailbox.url }) },
      isUnexpected: options.isUnexpected,
      crashPoint: pickCrashPoint(backOfficeName, createRandom('crash points'), options.crashChance),
      onKill: (database, processRun) =>
        void setTimeout(
          () => expireLeasesOfProcess(database, processRun).catch(() => {}),
          backOffice ? upstreamGraceMs : 0,
        ),
      async prepare({ db: database, keys, service: prepared }) {
        await recordLeaseOwners(database)
        // No scenario reads older sales, and they are half of the demo shop.
        if (!backOffice)
          await fillDemoShop(database, keys, prepared, undefined, { ...makeDemoShop(), transactions: [] })
        const names = Object.values(gateways)
        if (backOffice && !isSpedUp)
          await connectBackOffice(database, keys, prepared, { url: backOffice.simulator.url, gateways: names })
        else
          await upsertGateways(
            database,
            prepared,
            names.map(name => ({ name })),
          )
      },
    })
    closers.push(installation.close)
    const { db, service, apis, workers, credentials } = installation
    if (backOffice?.driver) await waitForInitialSyncs(installation, backOffice.driver)

    const openClient = (part: string) => openShopperClient({ apis, credentials, history }, createRandom(part))
    const context: ShopperContext = {
      apis,
      credentials,
      history,
      customers: backOffice?.customers ?? (await listCustomers(openClient('customers'))),
      orders: [],
      vouchers: backOffice?.vouchers ?? (() => listSoldVouchers(history)),
      gateways,
      // Without staff, despatch each order at once: only despatched units can be returned.
      ship: id =>
        backOffice && !options.hasStaff && backOffice.simulator.change({ kind: 'despatch-order', id: Number(id) }),
      abandonChance: options.abandonChance,
    }
    const shopping = Array.from({ length: shoppers }, (_, i) => {
      const ownCustomers = context.customers.filter((__, index) => index % shoppers === i)
      return runShopper(`s${seed}-${i}`, createRandom(`shopper ${i}`), ownCustomers, context, isOver)
    })
    const simulator = backOffice?.simulator
    const staffWork: Promise<StaffWork | undefined> =
      simulator && options.hasStaff
        ? runStaff(simulator, createRandom('staff'), record => backOffice.awaitsResponse(record, history), isOver)
        : Promise.resolve(undefined)
    const faults = simulator
      ? runFaultSchedule(simulator, options.faults, createRandom('faults'), isOver)
      : Promise.resolve(new Map<string, number>())
    const killing = startKilling(installation, history, options.kills, createRandom('kills'), isOver)
    const createdCustomers = () => history.acknowledged('customer').flatMap(({ outcome }) => outcome.data?.id ?? [])
    const observers = [
      ...polledListNames.map(name =>
        pollList(name, openClient(`poll ${name}`), isDone, name === 'customers' ? createdCustomers : () => []),
      ),
      ...(simulator && options.hasStaff ? [observeRemovals(simulator, db, service, isDone)] : []),
    ]
    const failure = Promise.all([...shopping, staffWork, faults, killing.done, ...observers]).then(
      () => new Promise<never>(() => {}),
    )
    const startedAt = performance.now()
    const measure = (): Progress => ({
      seconds: (performance.now() - startedAt) / 1_000,
      kills: killing.countKills(),
      writes: history.operations.length,
      changes: simulator?.ledger.effects.filter(({ request }) => request === null).length ?? 0,
      retries: [...history.retries.values()].reduce((sum, count) => sum + count, 0),
    })
    async function waitUntilFinished() {
      for (let progress = measure(); ; progress = measure()) {
        onProgress(progress)
        if (options.isFinished(progress) && (history.hasEachType() || progress.seconds > maxSecondsForAllTypes)) return
        await delay(250)
      }
    }
    try {
      await Promise.race([waitUntilFinished(), failure])
    } finally {
      phase = 'finishing'
    }
    await Promise.all([faults, staffWork, killing.done])
    const expiresLeases = options.kills.expireChance > 0
    const shoppersDone = Promise.all(shopping).then(() => true)
    while (!(await Promise.race([shoppersDone, delay(5_000, false)])))
      if (expiresLeases) await expireLeases(db).catch(() => {})
    await waitUntilWritesAreRecovered(db, { expiresLeases })
    if (backOffice && !backOffice.driver) await waitUntilSyncsEnd(db)
    const areAllSent = mailbox && (await waitUntilEmailsAreSent(db, service))
    const kills = killing.describe()
    await Promise.all(workers.map(worker => worker.end()))
    if (backOffice?.driver) {
      backOffice.simulator.change({ kind: 'allot-vouchers' })
      await runAllSyncs(installation, backOffice.driver)
    }
    phase = 'over'
    const evidence = {
      installation,
      history,
      client: openClient('checks'),
      observed: await Promise.all(observers),
      backOffice,
      staffWork: await staffWork,
      emails: mailbox && { received: mailbox.emails, areAllSent: areAllSent === true },
    }
    return {
      installation,
      history,
      simulator,
      faults: await faults,
      changes: evidence.staffWork?.changes ?? new Map(),
      kills,
      check: () => runChecks(evidence),
      close,
    }
  } catch (error) {
    phase = 'over'
    await close()
    throw error
  }
}

const rejectOneInTen = (random: ReturnType<typeof randomFor>) => () => random.chance(0.1)

/** Lists the last 20 vouchers that shoppers bought. The embedded back office returns their numbers and PINs immediately. */
const listSoldVouchers = (history: History): Voucher[] =>
  history
    .acknowledged('voucherSale')
    .flatMap(({ outcome: { data } }) => (data?.number && data.pin ? [{ number: data.number, pin: data.pin }] : []))
    .slice(-20)

async function listCustomers(client: ShopperClient): Promise<Customer[]> {
  const { data } = await client.read(api => api.customers.search({ limit: 60 }).page())
  return data.flatMap(({ id, contact: { email } }) => (email ? [{ id, email }] : []))
}
