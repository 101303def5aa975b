import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { BackOfficeSettings, DriverName, SettingName } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'

/** The stored back-office settings of a service. */
export interface StoredBackOffice {
  serviceId: number
  /** A random value that changes with each update. Not the version of the back office, which is in `settings`. */
  version: string
  settings: BackOfficeSettings
  /** True if a password was encrypted with another key, so that it can't be decrypted. */
  isLocked: boolean
}

interface Row {
  serviceId: number
  version: string
  driver: DriverName
  password: Buffer | null
  sftpPassword: Buffer | null
  texts: Partial<Record<Exclude<SettingName, 'driver' | 'password' | 'sftpPassword'>, string>>
  syncIntervals: NonNullable<BackOfficeSettings['syncIntervals']>
  gateways: NonNullable<BackOfficeSettings['gateways']>
}

/** The contexts that the encrypted passwords of a service are bound to. */
export const getPasswordContext = (serviceId: number) => `back_office ${serviceId}`
export const getSftpPasswordContext = (serviceId: number) => `back_office exports ${serviceId}`

const columns = sql`
  service_id as "serviceId", version::text, driver, password, sftp_password as "sftpPassword", sync_intervals as "syncIntervals", gateways,
  json_strip_nulls(json_build_object('url', url, 'country', country, 'user', username, 'ca', ca, 'timeZone', time_zone, 'version', back_office_version, 'concurrency', concurrency, 'syncShare', sync_share, 'exportFolder', export_folder,
    'sftpHostKey', sftp_host_key, 'sftpKeyFile', sftp_key_file)) as texts`

/** Returns the stored settings of all services that have some. */
export const listStoredBackOffices = async (db: Db, keys: Keys): Promise<StoredBackOffice[]> =>
  (await db.rows<Row>(sql`select ${columns} from back_office order by service_id`)).map(row =>
    toStoredBackOffice(row, keys),
  )

/** Returns the stored settings of a service. Returns undefined if it has none. */
export async function findStoredBackOffice(
  db: Db,
  keys: Keys,
  service: Service,
): Promise<StoredBackOffice | undefined> {
  const row = await db.row<Row>(sql`select ${columns} from back_office where service_id = ${service.id}`)
  return row && toStoredBackOffice(row, keys)
}

/** Returns the stored settings of a service, and locks them until the transaction ends. Returns undefined if it has none. */
export async function lockStoredBackOffice(
  tx: Db,
  keys: Keys,
  service: Service,
): Promise<StoredBackOffice | undefined> {
  const row = await tx.row<Row>(sql`select ${columns} from back_office where service_id = ${service.id} for update`)
  return row && toStoredBackOffice(row, keys)
}

function toStoredBackOffice(row: Row, keys: Keys): StoredBackOffice {
  const { serviceId, version, driver, texts, syncIntervals, gateways } = row
  const password = unsealPassword(getPasswordContext(serviceId), row.password, keys)
  const sftpPassword = unsealPassword(getSftpPasswordContext(serviceId), row.sftpPassword, keys)
  return {
    serviceId,
    version,
    settings: {
      driver,
      ...texts,
      ...(password !== undefined && { password }),
      ...(sftpPassword !== undefined && { sftpPassword }),
      ...(Object.keys(syncIntervals).length && { syncIntervals }),
      ...(Object.keys(gateways).length && { gateways }),
    },
    isLocked:
      (row.password !== null && password === undefined) || (row.sftpPassword !== null && sftpPassword === undefined),
  }
}

function unsealPassword(context: string, password: Buffer | null, keys: Keys): string | undefined {
  try {
    return password === null ? undefined : unseal(keys, context, password)
  } catch {
    return
  }
}

/** Stores the back-office settings of a service. */
export async function setBackOffice(tx: Db, keys: Keys, service: Service, settings: BackOfficeSettings): Promise<void> {
  const {
    driver,
    url,
    country,
    user,
    password,
    ca,
    timeZone,
    version,
    concurrency,
    syncShare,
    exportFolder,
    syncIntervals = {},
    gateways = {},
  } = settings
  const { sftpHostKey, sftpKeyFile, sftpPassword } = settings
  const sealed = password === undefined ? null : seal(keys, getPasswordContext(service.id), password)
  const sftpSealed = sftpPassword === undefined ? null : seal(keys, getSftpPasswordContext(service.id), sftpPassword)
  await tx.run(sql`
    insert into back_office as b (service_id, driver, url, country, username, password, ca, time_zone, back_office_version, concurrency, sync_share, export_folder, sftp_host_key, sftp_key_file, sftp_password, sync_intervals, gateways)
    values (${service.id}, ${driver}, ${url ?? null}, ${country ?? null}, ${user ?? null}, ${sealed}, ${ca ?? null}, ${timeZone ?? null}, ${version ?? null}, ${concurrency ?? null}, ${syncShare ?? null}, ${exportFolder ?? null}, ${sftpHostKey ?? null}, ${sftpKeyFile ?? null}, ${sftpSealed}, ${JSON.stringify(syncIntervals)}, ${JSON.stringify(gateways)})
    on conflict (service_id) do update
      set (driver, url, country, username, password, ca, time_zone, back_office_version, concurrency, sync_share, export_folder, sftp_host_key, sftp_key_file, sftp_password, sync_intervals, gateways, version)
        = (excluded.driver, excluded.url, excluded.country, excluded.username, excluded.password, excluded.ca, excluded.time_zone, excluded.back_office_version, excluded.concurrency, excluded.sync_share, excluded.export_folder, excluded.sftp_host_key, excluded.sftp_key_file, excluded.sftp_password, excluded.sync_intervals, excluded.gateways, gen_random_uuid())`)
}

/** Milliseconds until every process has read new settings. */
const propagationMs = 4_000

/** Schedules the syncs once every process uses new settings. */
export const rescheduleSyncs = (tx: Db) =>
  addJob(tx, null, 'schedule-syncs', { dueAt: new Date(Date.now() + propagationMs).toISOString() })

/** Deletes the settings of a service, so that the settings of the environment apply. Returns false if the service had none. */
export const deleteBackOffice = async (tx: Db, service: Service): Promise<boolean> =>
  (await tx.run(sql`delete from back_office where service_id = ${service.id}`)) > 0
