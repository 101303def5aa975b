import type { Logger } from 'pino'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { type BackOfficeSettings, embeddedName } from '../domain/tenancy/back-office-settings.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { raiseAlert, resolveAlertsOfKind } from '../store/alerts/alerts.ts'
import { type StoredBackOffice, storedBackOffices } from '../store/backoffice/connections.ts'
import { readFinishedAt } from '../store/sync/status.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { countCalls } from './call-minutes.ts'
import { drivers } from './drivers.ts'
import type { BackOffice } from './port/back-office.ts'
import type { Driver, OnCall, OnCredentials } from './port/driver.ts'

/** The back offices behind all services, as this process reaches them: one driver a service, opened when it is first needed. */
export interface BackOffices {
  /** Costs nothing: what it needs to know is read beforehand. */
  of(service: Service): BackOffice
  driverOf(service: Service): Driver
  settingsOf(service: Service): BackOfficeSettings
  /** When each sync of a service last ended well (RFC 3339), a few seconds late; undefined where nothing is pulled. */
  syncedAt(service: Service): ReadonlyMap<string, string> | undefined
  /** The drivers that are open, by the names of their services. */
  opened(): { service: string; driver: Driver }[]
  close(): void
}

interface Opening {
  db: Database
  keys: Keys
  /** For services without a back office of their own. */
  defaults: BackOfficeSettings
  log: Logger
}

/** A driver, and what it was opened with. */
interface Opened {
  service: Service
  settings: BackOfficeSettings
  timeZone: string
  driver: Driver
}

/** Milliseconds between two looks at what is set: a change is in force everywhere within 5 s. */
const lookMs = 2_000
/** Milliseconds that a driver which is not used any more has to end its calls. */
const graceMs = 30_000

/** Opens the back offices: what services have set is read, and from then on looked after. */
export async function openBackOffices({ db, keys, defaults, log }: Opening): Promise<BackOffices> {
  const open = new Map<number, Opened>()
  const leaving = new Map<NodeJS.Timeout, Driver>()
  const calls = countCalls(db, log)
  let own: ReadonlyMap<number, StoredBackOffice> = new Map()
  let synced: ReadonlyMap<number, ReadonlyMap<string, string>> = new Map()

  async function look() {
    const stored = await storedBackOffices(db, keys)
    // What has not changed stays the very same, so that a driver can tell.
    own = new Map(
      stored.map(one => {
        const known = own.get(one.serviceId)
        if (known?.version === one.version) return [one.serviceId, known]
        if (one.isLocked)
          log.error({ serviceId: one.serviceId }, 'back-office password was encrypted with another key. Set it again.')
        return [one.serviceId, one]
      }),
    )
    if (stored.length || defaults.driver !== embeddedName) synced = await readFinishedAt(db)
  }
  await look()
  let polling = Promise.resolve()
  const timer = setInterval(() => {
    // While the database is unavailable, the settings that were read last stay in force.
    polling = polling.then(() => ignoreError(look(), 'back office settings are polled again')).then(calls.write)
  }, lookMs).unref()

  function retire({ driver }: Opened) {
    const end = setTimeout(() => {
      leaving.delete(end)
      driver.close()
    }, graceMs).unref()
    leaving.set(end, driver)
  }

  const settingsOf = (service: Service) => own.get(service.id)?.settings ?? defaults

  function driverOf(service: Service): Driver {
    const settings = settingsOf(service)
    const { timeZone } = service.settings
    const known = open.get(service.id)
    if (known && known.settings === settings && known.timeZone === timeZone) return known.driver
    const ownLog = log.child({ service: service.name })
    const onCredentials: OnCredentials = state => {
      // What becomes of a password that is not used any more is nobody's concern.
      if (open.get(service.id)?.driver !== driver) return
      const failed = (err: unknown) => ownLog.error({ err }, 'An alert could not be written down.')
      noteCredentials(db, service, state).catch(failed)
    }
    const onCall: OnCall = (milliseconds, hasFailed) => calls.note(service.id, milliseconds, hasFailed)
    const driver: Driver = drivers[settings.driver](settings, service, ownLog, onCredentials, onCall)
    if (known) retire(known)
    open.set(service.id, { service, settings, timeZone, driver })
    return driver
  }

  return {
    of: service => driverOf(service).backOffice(service),
    driverOf,
    settingsOf,
    syncedAt: service => (settingsOf(service).driver === embeddedName ? undefined : synced.get(service.id)),
    opened: () => [...open.values()].map(({ service, driver }) => ({ service: service.name, driver })),
    close() {
      clearInterval(timer)
      for (const [end, driver] of leaving) {
        clearTimeout(end)
        driver.close()
      }
      for (const { driver } of open.values()) driver.close()
    },
  }
}

/** A back office that does not take the password asks for somebody who has the right one. */
async function noteCredentials(db: Database, { id }: Service, state: 'accepted' | 'rejected') {
  const kind = 'back_office_denied'
  const detail = 'The back office does not accept the user and the password.'
  await (state === 'accepted' ? resolveAlertsOfKind(db, id, kind) : raiseAlert(db, id, { kind, subject: '', detail }))
}
