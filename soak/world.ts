import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Simulator } from '../simulator/control/handle.ts'
import type { Size } from '../simulator/generate/shop.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { addAccount, addService } from '../src/accounts.ts'
import { apparel21 } from '../src/backoffice/apparel21/apparel21.ts'
import type { Limits } from '../src/backoffice/apparel21/calls/connection.ts'
import { openUpstream } from '../src/backoffice/apparel21/lookup/upstream.ts'
import { feedsOf } from '../src/backoffice/apparel21/pull/feeds.ts'
import type { Offices } from '../src/backoffice/offices.ts'
import { readConfig } from '../src/config.ts'
import { type Database, openDatabase } from '../src/db.ts'
import type { Driver } from '../src/domain/port/driver.ts'
import { jobs, officeJobs } from '../src/jobs/jobs.ts'
import { postOf } from '../src/mail/post.ts'
import { listen } from '../src/running/listen.ts'
import { type Keys, keysFrom } from '../src/secrets.ts'
import type { Service, Settings } from '../src/settings.ts'
import { upsertGateways } from '../src/store/running/gateways.ts'
import { localCertificate } from '../src/tls/tls.ts'
import { startWorker } from '../src/worker.ts'
import type { Reached } from './client.ts'

export type Connection = Parameters<typeof openDatabase>[0]

/** Everything that runs: the simulator behind HTTPS, two servers of the API and a worker that pulls its feeds. */
export interface World {
  simulator: Simulator
  db: Database
  service: Service
  servers: readonly Reached[]
  headers: Record<string, string>
  /** What was logged that nobody should ever see. */
  log: string[]
  /** The worker's way to the back office. */
  driver: Driver
  stopJobs(): Promise<void>
  close(): Promise<void>
}

export interface Opening {
  seed: number
  /** A database that is migrated and empty. */
  connection: Connection
  directory: string
  sizes: Partial<Size>
  release: string
}

const zone = 'Australia/Melbourne'
const settings: Partial<Settings> = {
  currency: 'AUD',
  timeZone: zone,
  vouchersEnabled: true,
  giftCardSku: '9001',
  voucherType: 'GV_EMAIL',
  readsPerMinute: 'off',
  writesPerMinute: 'off',
  subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } },
  returnReasons: [
    { code: 'SIZE', name: 'Wrong size' },
    { code: 'FAULTY', name: 'Faulty' },
  ],
}

/** Shorter than in earnest, so that minutes hold what else would take days. */
const limits: Partial<Limits> = {
  deadlineMs: 1_500,
  pageDeadlineMs: 3_000,
  bulkDeadlineMs: 4_000,
  pageRows: 40,
  openMs: 150,
  mostOpenMs: 1_200,
  patienceMs: 300,
}
/** Seconds between two pulls of a feed, until it is read in full, and until a record is visited again. */
const [everySeconds, fullEverySeconds, revisitSeconds] = [2, 25, 20]

export async function openWorld({ seed, connection, directory, sizes, release }: Opening): Promise<World> {
  const { key, cert, caFile } = localCertificate(join(directory, 'simulator'))
  const simulator = await startSimulator({
    seed: String(seed),
    sizes,
    release,
    tls: { key, cert },
    settings: { voucherSeconds: 1 },
  })
  const open = () => openDatabase(connection, { max: 8, statementTimeoutMs: 30_000, onFault: () => {} })
  const db = open()
  const keys = keysFrom(randomBytes(32))
  const service = await addService(db, 'soak', settings)
  if (!service) throw new Error('the service is new')
  const password = await addAccount(db, keys, 'client', service, 'maintainer')
  await upsertGateways(db, service, [{ name: 'visa' }, { name: 'paypal' }, { name: 'gift-voucher' }])

  const log: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void (isUnexpected(line) && log.push(line)) })
  const reaching = { simulator, ca: readFileSync(caFile, 'utf8') }
  const servers = await Promise.all(
    ['api-1', 'api-2'].map(name => serve(join(directory, name), open(), keys, logger, driverTo(reaching))),
  )
  const driver = driverTo(reaching)
  const worker = startWorker(
    { db, keys, log: logger, post: postOf(readConfig({ DATA_DIR: directory })) },
    { ...jobs, ...hasty(officesOf(driver)) },
  )
  let stopped: Promise<void> | undefined
  const stopJobs = () => {
    stopped ??= worker.stop(10_000)
    return stopped
  }
  return {
    simulator,
    db,
    service,
    servers,
    log,
    driver,
    stopJobs,
    headers: {
      authorization: `Basic ${Buffer.from(`client:${password}`).toString('base64')}`,
      'x-service-name': service.name,
    },
    async close() {
      await stopJobs()
      await Promise.all(servers.map(server => server.close()))
      driver.close()
      await simulator.close()
      await db.close()
    },
  }
}

async function serve(dataDir: string, db: Database, keys: Keys, log: Logger, driver: Driver) {
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const {
    baseUrl,
    caFile = '',
    close,
  } = await listen(config, { db, keys, migrated: [], close: async () => {} }, log, { offices: officesOf(driver) })
  return {
    baseUrl,
    caFile,
    async close() {
      await close(1_000)
      driver.close()
      await db.close()
    },
  }
}

interface Reaching {
  simulator: Simulator
  ca: string
}

/** A driver as each process opens one, in a hurry. */
function driverTo({ simulator, ca }: Reaching): Driver {
  const upstream = openUpstream({ url: simulator.url, countryCode: 'AU', timeZone: zone, ca, limits })
  const { client, release } = upstream
  return {
    backOffice: service => apparel21(upstream, service),
    feeds: feedsOf(client, release).map(feed => ({
      ...feed,
      everySeconds,
      ...(feed.fullEverySeconds !== undefined && { fullEverySeconds }),
      ...(feed.revisitSeconds !== undefined && { revisitSeconds }),
    })),
    source: simulator.url,
    breaker: undefined,
    look: async () => ({ release: undefined, stores: 0, currency: undefined }),
    close: client.close,
  }
}

const officesOf = (driver: Driver): Offices => ({
  of: driver.backOffice,
  driverOf: () => driver,
  settingsOf: () => ({ driver: 'apparel21' }),
  syncedAt: () => undefined,
  opened: () => [],
  close: () => {},
})

/** The jobs of back offices, which try again after seconds. */
function hasty(offices: Offices) {
  const table = officeJobs(offices)
  return Object.fromEntries(Object.entries(table).map(([name, job]) => [name, { ...job, waitsSeconds: [1, 2] }]))
}

/** Errors, but for the alerts and outcomes that an outage explains. */
function isUnexpected(line: string): boolean {
  const { level, alert, msg, err } = JSON.parse(line)
  if (alert !== undefined || explained.includes(msg)) return false
  return level >= 50 || msg === 'internal_error' || (err !== undefined && !explained.includes(err.code))
}
const explained = ['back_office_error', 'back_office_unavailable', 'service_unavailable', 'outcome_unknown']
