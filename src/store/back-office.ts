import type { BackOfficeSettings, DriverName } from '../back-office-settings.ts'
import { type Db, sql } from '../db.ts'
import { type Keys, seal, unseal } from '../secrets.ts'
import type { Service } from '../settings.ts'

/** What a service says of its back office. */
export interface StoredBackOffice {
  serviceId: number
  /** Another one whenever it was changed. */
  version: string
  settings: BackOfficeSettings
  /** The password was encrypted with another key, and is not known. */
  isLocked: boolean
}

interface Row {
  serviceId: number
  version: string
  driver: DriverName
  password: Buffer | null
  texts: Partial<Record<Exclude<keyof BackOfficeSettings, 'driver' | 'password'>, string>>
}

const place = (serviceId: number) => `back_office ${serviceId}`

const columns = sql`
  service_id as "serviceId", version::text, driver, password,
  json_strip_nulls(json_build_object('url', url, 'country', country, 'user', username, 'ca', ca, 'timeZone', time_zone, 'release', release, 'exports', exports)) as texts`

/** The own back offices of all services. */
export const storedBackOffices = async (db: Db, keys: Keys): Promise<StoredBackOffice[]> =>
  (await db.rows<Row>(sql`select ${columns} from back_office order by service_id`)).map(row => from(row, keys))

/** That of one service; undefined where it has none of its own. Held, within a transaction, until it ends. */
export async function storedBackOffice(tx: Db, keys: Keys, service: Service): Promise<StoredBackOffice | undefined> {
  const row = await tx.row<Row>(sql`select ${columns} from back_office where service_id = ${service.id} for update`)
  return row && from(row, keys)
}

function from({ serviceId, version, driver, password, texts }: Row, keys: Keys): StoredBackOffice {
  const opened = password === null ? {} : opening(serviceId, password, keys)
  return {
    serviceId,
    version,
    settings: { driver, ...texts, ...opened },
    isLocked: password !== null && !opened.password,
  }
}

function opening(serviceId: number, password: Buffer, keys: Keys): { password?: string } {
  try {
    return { password: unseal(keys.sealed, place(serviceId), password) }
  } catch {
    return {}
  }
}

/** Sets what stands behind a service. */
export async function setBackOffice(tx: Db, keys: Keys, service: Service, settings: BackOfficeSettings): Promise<void> {
  const { driver, url, country, user, password, ca, timeZone, release, exports } = settings
  const sealed = password === undefined ? null : seal(keys.sealed, place(service.id), password)
  await tx.run(sql`
    insert into back_office as b (service_id, driver, url, country, username, password, ca, time_zone, release, exports)
    values (${service.id}, ${driver}, ${url ?? null}, ${country ?? null}, ${user ?? null}, ${sealed}, ${ca ?? null}, ${timeZone ?? null}, ${release ?? null}, ${exports ?? null})
    on conflict (service_id) do update
      set (driver, url, country, username, password, ca, time_zone, release, exports, version)
        = (excluded.driver, excluded.url, excluded.country, excluded.username, excluded.password, excluded.ca, excluded.time_zone, excluded.release, excluded.exports, gen_random_uuid())`)
}

/** Leaves a service to what the environment says. False: it was already. */
export const clearBackOffice = async (tx: Db, service: Service): Promise<boolean> =>
  (await tx.run(sql`delete from back_office where service_id = ${service.id}`)) > 0
