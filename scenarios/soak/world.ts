import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import type { Simulator } from '../../simulator/control/handle.ts'
import type { Size } from '../../simulator/generate/shop.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import type { Driver } from '../../src/backoffice/port/driver.ts'
import { keysFrom } from '../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../src/database/db.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { localCertificate } from '../../src/tls/tls.ts'
import { type BackOfficeName, doomOf } from '../support/borders.ts'
import { endTimeOf, noteLives } from '../support/dead.ts'
import { type Kept, keep } from '../support/processes.ts'
import { seeded } from '../support/random.ts'
import { driverTo, zone } from './hurry.ts'

/** Everything that runs: two API processes, two workers, and the simulator behind HTTPS, which nobody kills. */
export interface World {
  db: Database
  service: Service
  servers: readonly Kept[]
  workers: readonly Kept[]
  headers: Record<string, string>
  /** What was logged that nobody should ever see. */
  log: string[]
  /** The back office, where it is none of our own, and a way to it of the soak's own. */
  simulator?: Simulator
  driver?: Driver
  close(): Promise<void>
}

/** One with a back office behind it. */
export type WorldBehind = World & Required<Pick<World, 'simulator' | 'driver'>>

export const isBehind = (world: World): world is WorldBehind => world.simulator !== undefined

export interface Opening {
  seed: number
  backOffice: BackOfficeName
  /** A database that is migrated and empty. */
  databaseUrl: string
  directory: string
  sizes: Partial<Size>
  release: string
}

const common: Partial<Settings> = {
  readsPerMinute: 'off',
  writesPerMinute: 'off',
  returnReasons: [
    { code: 'SIZE', name: 'Wrong size' },
    { code: 'FAULTY', name: 'Faulty' },
  ],
}
const settings: Record<BackOfficeName, Partial<Settings>> = {
  embedded: { ...demoSettings, ...common },
  apparel21: {
    ...common,
    currency: 'AUD',
    timeZone: zone,
    vouchersEnabled: true,
    giftCardSku: '9001',
    voucherType: 'GV_EMAIL',
    subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } },
  },
}

const program = fileURLToPath(new URL('process.ts', import.meta.url))
/** Milliseconds after a death until the back office has done all that the dead had asked it for. */
const afterwards = 2_500

export async function openWorld(opening: Opening): Promise<World> {
  const { seed, backOffice, databaseUrl, directory } = opening
  const db = openDatabase(databaseUrl, { max: 8, statementTimeoutMs: 30_000, onFault: () => {} })
  await noteLives(db)
  const secret = randomBytes(32).toString('hex')
  const keys = keysFrom(secret)
  const service = await addService(db, 'soak', settings[backOffice])
  if (!service) throw new Error('the service is new')
  const password = await addAccount(db, keys, 'client', service, 'maintainer')
  const upstream = backOffice === 'apparel21' ? await openUpstream(opening) : undefined
  if (!upstream) await fillDemoShop(db, keys, service)
  await upsertGateways(db, service, [{ name: 'visa' }, { name: 'paypal' }, { name: 'gift-voucher' }])

  const log: string[] = []
  const keeping = {
    directory,
    databaseUrl,
    program,
    environment: { SECRET_KEY: secret, DATABASE_POOL: '6', ...upstream?.environment },
    onLog: (line: string) => void (isUnexpected(line) && log.push(line)),
    onDeath: (life: string) => void setTimeout(() => endTimeOf(db, life).catch(() => {}), upstream ? afterwards : 0),
  }
  const random = seeded(seed * 1_009 + 7)
  const two = (role: 'api' | 'worker') =>
    Promise.all(
      [1, 2].map(i =>
        keep({ ...keeping, name: `${role}-${i}`, args: [role], doom: doomOf(backOffice, role, random, 0.25) }),
      ),
    )
  const [servers, workers] = await Promise.all([two('api'), two('worker')])
  return {
    db,
    service,
    servers,
    workers,
    log,
    ...upstream?.office,
    headers: {
      authorization: `Basic ${Buffer.from(`client:${password}`).toString('base64')}`,
      'x-service-name': service.name,
    },
    async close() {
      await Promise.all([...servers, ...workers].map(each => each.end()))
      upstream?.office.driver.close()
      await upstream?.office.simulator.close()
      await db.close()
    },
  }
}

/** The simulator of an Apparel21 behind HTTPS. */
async function openUpstream({ seed, directory, sizes, release }: Opening) {
  const { key, cert, caFile } = localCertificate(join(directory, 'simulator'))
  const tls = { key, cert }
  const simulator = await startSimulator({ seed: String(seed), sizes, release, tls, settings: { voucherSeconds: 1 } })
  const { url } = simulator
  return {
    office: { simulator, driver: driverTo(url, readFileSync(caFile, 'utf8')) },
    environment: {
      BACK_OFFICE: 'apparel21',
      BACK_OFFICE_URL: url,
      BACK_OFFICE_COUNTRY: 'AU',
      BACK_OFFICE_CA_FILE: caFile,
    },
  }
}

/** Errors, but for the alerts and outcomes that an outage explains; and what no logger has written. */
function isUnexpected(line: string): boolean {
  if (!line.startsWith('{')) return true
  // A kill may cut a line.
  if (!line.endsWith('}')) return false
  const { level, alert, msg, err } = JSON.parse(line)
  if (alert !== undefined || explained.includes(msg)) return false
  return level >= 50 || msg === 'internal_error' || (err !== undefined && !explained.includes(err.code))
}
const explained = [
  'back_office_error',
  'back_office_unavailable',
  'service_unavailable',
  'outcome_unknown',
  'concurrent_update',
]
