import type { Logger } from 'pino'
import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import { type BackOfficeSettings, embeddedName } from '../domain/tenancy/back-office-settings.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { raiseAlert, resolveAlertsOfKind } from '../store/alerts/alerts.ts'
import { listStoredBackOffices, type StoredBackOffice } from '../store/backoffice/connections.ts'
import { addCallMinutes, type CallMinute } from '../store/stats/back-office-calls.ts'
import { readFinishedAt } from '../store/sync/status.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { drivers } from './drivers.ts'
import type { BackOffice } from './port/back-office.ts'
import type { Driver, OnCall, OnCredentials } from './port/driver.ts'

/** The back offices of all services: one driver per service, opened on first use. */
export interface BackOffices {
  /** Cheap: settings are polled in the background. */
  get(service: Service): BackOffice
  getDriver(service: Service): Driver
  getSettings(service: Service): BackOfficeSettings
  /** Returns when each sync of a service last succeeded (RFC 3339), up to 2 s late. Returns undefined if the service has no syncs. */
  getSyncTimes(service: Service): ReadonlyMap<string, string> | undefined
  /** Returns the open drivers with the names of their services. */
  listOpen(): { service: string; driver: Driver }[]
  close(): void
}

interface BackOfficesOptions {
  db: Database
  keys: Keys
  /** For services without their own back office. */
  defaults: BackOfficeSettings
  log: Logger
}

/** A driver, and the values that it was opened with. */
interface OpenedDriver {
  service: Service
  settings: BackOfficeSettings
  timeZone: string
  driver: Driver
}

/** Milliseconds between two reads of the settings. A change is in effect in all processes within 5 s. */
const pollIntervalMs = 2_000

/** Milliseconds that the calls of a replaced driver have to end. */
const graceMs = 30_000

/** Opens the back offices. Reads the settings of all services now and at each poll. */
export async function openBackOffices({ db, keys, defaults, log }: BackOfficesOptions): Promise<BackOffices> {
  const open = new Map<number, OpenedDriver>()
  const retired = new Map<NodeJS.Timeout, Driver>()
  const calls = countCalls(db, log)
  let stored: ReadonlyMap<number, StoredBackOffice> = new Map()
  let syncTimes: ReadonlyMap<number, ReadonlyMap<string, string>> = new Map()

  async function poll() {
    const backOffices = await listStoredBackOffices(db, keys)
    // Keep the object of an unchanged version: `getDriver` opens a new driver if the settings are another object.
    stored = new Map(
      backOffices.map(backOffice => {
        const previous = stored.get(backOffice.serviceId)
        if (previous?.version === backOffice.version) return [backOffice.serviceId, previous]
        if (backOffice.isLocked)
          log.error(
            { serviceId: backOffice.serviceId },
            'back-office password was encrypted with another key. Set it again.',
          )
        return [backOffice.serviceId, backOffice]
      }),
    )
    if (backOffices.length || defaults.driver !== embeddedName) syncTimes = await readFinishedAt(db)
  }
  await poll()
  let polling = Promise.resolve()
  const timer = setInterval(() => {
    // While the database is unavailable, the last known settings stay in effect.
    polling = polling.then(() => ignoreError(poll(), 'back office settings are polled again')).then(calls.write)
  }, pollIntervalMs).unref()

  function retire({ driver }: OpenedDriver) {
    const end = setTimeout(() => {
      retired.delete(end)
      driver.close()
    }, graceMs).unref()
    retired.set(end, driver)
  }

  const getSettings = (service: Service) => stored.get(service.id)?.settings ?? defaults

  function getDriver(service: Service): Driver {
    const settings = getSettings(service)
    const { timeZone } = service.settings
    const current = open.get(service.id)
    if (current && current.settings === settings && current.timeZone === timeZone) return current.driver
    const serviceLog = log.child({ service: service.name })
    const onCredentials: OnCredentials = state => {
      // A retired driver reports on a password that is no longer in use.
      if (open.get(service.id)?.driver !== driver) return
      updateCredentialsAlert(db, service, state).catch((err: unknown) =>
        serviceLog.error({ err }, 'alert about credentials not stored'),
      )
    }
    const onCall: OnCall = (milliseconds, hasFailed) => calls.count(service.id, milliseconds, hasFailed)
    const driver: Driver = drivers[settings.driver](settings, service, serviceLog, onCredentials, onCall)
    if (current) retire(current)
    open.set(service.id, { service, settings, timeZone, driver })
    return driver
  }

  return {
    get: service => getDriver(service).backOffice(service),
    getDriver,
    getSettings,
    getSyncTimes: service => (getSettings(service).driver === embeddedName ? undefined : syncTimes.get(service.id)),
    listOpen: () => [...open.values()].map(({ service, driver }) => ({ service: service.name, driver })),
    close() {
      clearInterval(timer)
      for (const [end, driver] of retired) {
        clearTimeout(end)
        driver.close()
      }
      for (const { driver } of open.values()) driver.close()
    },
  }
}

/** Raises an alert if the back office rejects the credentials, and resolves it if they are accepted. */
async function updateCredentialsAlert(db: Database, { id }: Service, state: 'accepted' | 'rejected') {
  const kind = 'back_office_denied'
  const detail = 'The back office rejected the username or the password.'
  await (state === 'accepted' ? resolveAlertsOfKind(db, id, kind) : raiseAlert(db, id, { kind, subject: '', detail }))
}

/** Service minutes that wait for the database. Further ones are not counted. */
const maxPendingMinutes = 10_000

/** Counts the back-office calls of this process by service and minute, until `write` stores the counts. */
function countCalls(db: Db, log: Logger) {
  let pending = new Map<string, CallMinute>()

  function add(minute: CallMinute) {
    const key = `${minute.serviceId} ${minute.minute}`
    const sum = pending.get(key)
    if (!sum && pending.size >= maxPendingMinutes) return
    pending.set(key, {
      serviceId: minute.serviceId,
      minute: minute.minute,
      calls: (sum?.calls ?? 0) + minute.calls,
      failed: (sum?.failed ?? 0) + minute.failed,
      milliseconds: (sum?.milliseconds ?? 0) + minute.milliseconds,
      slowest: Math.max(sum?.slowest ?? 0, minute.slowest),
    })
  }

  return {
    count(serviceId: number, milliseconds: number, hasFailed: boolean) {
      const minute = `${new Date().toISOString().slice(0, 16)}Z`
      add({ serviceId, minute, calls: 1, failed: hasFailed ? 1 : 0, milliseconds, slowest: milliseconds })
    },
    async write() {
      if (!pending.size) return
      const minutes = [...pending.values()]
      pending = new Map()
      try {
        await addCallMinutes(db, minutes)
      } catch (error) {
        minutes.forEach(add)
        log.debug({ err: error }, 'back-office call counts not stored, will retry')
      }
    },
  }
}
