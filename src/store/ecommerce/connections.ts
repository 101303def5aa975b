import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, raw, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { ConnectionSettings, PlatformName } from '../../domain/ecommerce/connection-settings.ts'
import {
  defaultConnection,
  defaultIntervals,
  mainConnection,
  platformSyncs,
} from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { requestMappingCheck } from '../mappings/platform-items.ts'

/** The stored connection of a service to its e-commerce platform. */
export interface StoredConnection {
  serviceId: number
  connectionId: string
  settings: ConnectionSettings
  /** Undefined: the secret was encrypted with another key, so that it can't be decrypted. */
  secret: string | undefined
  /** Null: not checked since the settings were changed. */
  subscriptions: StoredSubscriptions | null
}

/** The event subscriptions at the last check: the number of topics that Tillbridge needs, and those that the platform doesn't send. */
interface StoredSubscriptions {
  wanted: number
  missing: string[]
  /** RFC 3339. */
  checkedAt: string
}

interface Row {
  serviceId: number
  connectionId: string
  driver: PlatformName
  url: string
  clientId: string | null
  secret: Buffer
  apiVersion: string | null
  options: Partial<
    Pick<ConnectionSettings, 'autoMapping' | 'stockPush' | 'events' | 'nettingDelayMinutes' | 'intervals'>
  >
  subscriptions: StoredSubscriptions | null
}

// The contexts that the encrypted values of a connection are bound to.
export const secretContext = (serviceId: number, connectionId: string) =>
  `ecommerce_connection secret ${serviceId} ${connectionId}`
export const previousSecretContext = (serviceId: number, connectionId: string) =>
  `ecommerce_connection previous secret ${serviceId} ${connectionId}`
export const tokenContext = (serviceId: number, connectionId: string) =>
  `ecommerce_connection token ${serviceId} ${connectionId}`

const columns = sql`
  service_id as "serviceId", connection_id as "connectionId", driver, url, client_id as "clientId", encrypted_secret as secret,
  api_version as "apiVersion", settings as options, subscriptions`

function toStoredConnection(row: Row, keys: Keys): StoredConnection {
  const { serviceId, connectionId, driver, url, clientId, apiVersion, options, subscriptions } = row
  return {
    serviceId,
    connectionId,
    settings: { ...defaultConnection, ...options, driver, url, clientId, apiVersion },
    secret: unsealText(keys, secretContext(serviceId, connectionId), row.secret),
    subscriptions,
  }
}

/** Returns a decrypted secret or token. Returns undefined if it was encrypted with another key. */
function unsealText(keys: Keys, context: string, value: Buffer): string | undefined {
  try {
    return unseal(keys, context, value)
  } catch {
    return
  }
}

// A service has one connection at present, `mainConnection`. Only the functions of its token get the ID, from the driver's token store.
const ofConnection = ({ id }: Pick<Service, 'id'>, connectionId: string) =>
  sql`service_id = ${id} and connection_id = ${connectionId}`

/** Returns the connection of a service, or undefined. */
export async function findConnection(db: Db, keys: Keys, service: Service): Promise<StoredConnection | undefined> {
  const row = await db.row<Row>(
    sql`select ${columns} from ecommerce_connection where ${ofConnection(service, mainConnection)}`,
  )
  return row && toStoredConnection(row, keys)
}

/** Returns the connection of a service and locks it until the transaction ends. */
export async function lockConnection(tx: Db, keys: Keys, service: Service): Promise<StoredConnection | undefined> {
  const row = await tx.row<Row>(
    sql`select ${columns} from ecommerce_connection where ${ofConnection(service, mainConnection)} for update`,
  )
  return row && toStoredConnection(row, keys)
}

/** True if the service is connected to an e-commerce platform. */
export const hasConnection = async (db: Db, service: Service): Promise<boolean> =>
  (await db.run(sql`select from ecommerce_connection where service_id = ${service.id}`)) > 0

/** Hours for which events that were signed with the secret before a rotation are accepted. The platform itself uses it for an hour. */
const previousSecretHours = 24

/**
 * Stores the connection of a service, and deletes its token. If the settings name another shop, the data of the previous one is deleted.
 * `replacedSecret`: the secret before, if this is a rotation. Its events are accepted for a day.
 */
export async function setConnection(
  tx: Db,
  keys: Keys,
  service: Service,
  { driver, url, clientId, apiVersion, ...options }: ConnectionSettings,
  secret: string,
  replacedSecret?: string,
): Promise<void> {
  const isOtherShop =
    (await tx.run(sql`
      select from ecommerce_connection where ${ofConnection(service, mainConnection)} and (driver, url) <> (${driver}, ${url})`)) >
    0
  if (isOtherShop) await deleteShopData(tx, service)
  const sealed = seal(keys, secretContext(service.id, mainConnection), secret)
  await tx.run(sql`
    insert into ecommerce_connection (service_id, connection_id, driver, url, client_id, encrypted_secret, api_version, settings)
    values (${service.id}, ${mainConnection}, ${driver}, ${url}, ${clientId}, ${sealed}, ${apiVersion}, ${JSON.stringify(options)}::jsonb)
    on conflict (service_id, connection_id) do update
      set (driver, url, client_id, encrypted_secret, api_version, settings, subscriptions, encrypted_token, token_expires_at, token_lease_until)
        = (excluded.driver, excluded.url, excluded.client_id, excluded.encrypted_secret, excluded.api_version, excluded.settings, null, null, null, null)`)
  if (replacedSecret === undefined) return
  const previous = seal(keys, previousSecretContext(service.id, mainConnection), replacedSecret)
  await tx.run(sql`
    update ecommerce_connection
       set (encrypted_previous_secret, previous_secret_until) = (${previous}, now() + ${previousSecretHours} * interval '1 hour')
     where ${ofConnection(service, mainConnection)}`)
}

/** Stores the result of a check of the event subscriptions. */
export const recordSubscriptions = (
  db: Db,
  service: Service,
  { wanted, missing }: Omit<StoredSubscriptions, 'checkedAt'>,
) =>
  db.run(sql`
    update ecommerce_connection
       set subscriptions = json_build_object('wanted', ${wanted}::integer, 'missing', ${JSON.stringify(missing)}::json, 'checkedAt', ${rfc3339(sql`clock_timestamp()`)})
     where ${ofConnection(service, mainConnection)}`)

/** A connection as the receiver of events needs it. */
export interface EventConnection {
  driver: PlatformName
  url: string
  /** The secrets that can have signed an event: the current one, and the previous one for a day after a rotation. */
  secrets: readonly string[]
}

/** Returns the connection of a service as the receiver of events needs it. Returns undefined if it receives none. */
export async function findEventConnection(db: Db, keys: Keys, service: Service): Promise<EventConnection | undefined> {
  const row = await db.row<{ driver: PlatformName; url: string; secret: Buffer; previous: Buffer | null }>(sql`
    select driver, url, encrypted_secret as secret, case when previous_secret_until > now() then encrypted_previous_secret end as previous
      from ecommerce_connection where ${ofConnection(service, mainConnection)} and settings->>'events' = 'on'`)
  if (!row) return
  const { driver, url, secret, previous } = row
  const secrets = [
    unsealText(keys, secretContext(service.id, mainConnection), secret),
    previous ? unsealText(keys, previousSecretContext(service.id, mainConnection), previous) : undefined,
  ]
  return { driver, url, secrets: secrets.filter(value => value !== undefined) }
}

/** Deletes the connection of a service with the data of its shop. Returns false if it had none. */
export async function deleteConnection(tx: Db, service: Service): Promise<boolean> {
  const deleted = await tx.run(sql`delete from ecommerce_connection where ${ofConnection(service, mainConnection)}`)
  if (deleted) await deleteShopData(tx, service)
  return deleted > 0
}

const shopTables = [
  'ecommerce_level',
  'ecommerce_commitment',
  'ecommerce_reconciliation',
  'ecommerce_item',
  'ecommerce_event',
  'ecommerce_tombstone',
] as const

/** Deletes everything that was stored about a shop, except for its connection and mappings. */
async function deleteShopData(tx: Db, service: Service): Promise<void> {
  const syncs = [...platformSyncs]
  await tx.run(sql`delete from sync_state where service_id = ${service.id} and sync = any(${syncs})`)
  await tx.run(sql`delete from ecommerce_budget where ${ofConnection(service, mainConnection)}`)
  await tx.run(sql`
    delete from alert
     where service_id = ${service.id}
       and (kind in ('ecommerce_denied', 'scope_missing', 'stock_push_stopped', 'stock_drift', 'api_version_ending', 'subscription_missing')
            or (kind in ('sync_failing', 'sync_stalled') and subject = any(${syncs})))`)
  for (const table of shopTables)
    await tx.run(sql`delete from ${raw(table)} where ${ofConnection(service, mainConnection)}`)
  await tx.run(sql`
    update ecommerce_connection set (push_cursor, push_stopped_at, push_approved_at) = (null, null, null) where ${ofConnection(service, mainConnection)}`)
  // Nothing is listed any more, so mappings are unverified instead of orphaned.
  await tx.run(sql`update mapping_check set (listed_at, listed) = row(null, 0) where service_id = ${service.id}`)
  await requestMappingCheck(tx, service)
}

/** Returns the syncs of all connections, or of the connection of a service, with their intervals. */
export async function listPlatformSyncs(db: Db, service?: Service) {
  const condition = service ? ofConnection(service, mainConnection) : sql`true`
  const rows = await db.rows<{ serviceId: number; intervals: ConnectionSettings['intervals'] }>(sql`
    select service_id as "serviceId", coalesce(settings->'intervals', '{}') as intervals from ecommerce_connection where ${condition}`)
  return rows.flatMap(({ serviceId, intervals }) =>
    platformSyncs.map(name => ({ serviceId, name, intervalSeconds: intervals[name] ?? defaultIntervals[name] })),
  )
}

/** Returns a token that is still valid, or undefined. */
export async function readToken(db: Db, keys: Keys, service: Service, connectionId: string) {
  const row = await db.row<{ token: Buffer }>(sql`
    select encrypted_token as token from ecommerce_connection
     where ${ofConnection(service, connectionId)} and token_expires_at > clock_timestamp()`)
  return row && unsealText(keys, tokenContext(service.id, connectionId), row.token)
}

/** Leases the renewal of the token to one process. Returns false if another process has the lease, or a valid token exists. */
export const leaseRenewal = async (
  db: Db,
  service: Service,
  connectionId: string,
  leaseSeconds: number,
): Promise<boolean> =>
  (await db.run(sql`
    update ecommerce_connection set token_lease_until = clock_timestamp() + ${leaseSeconds} * interval '1 s'
     where ${ofConnection(service, connectionId)} and coalesce(token_expires_at <= clock_timestamp(), true)
       and coalesce(token_lease_until <= clock_timestamp(), true)`)) > 0

/** Stores a new token and ends the lease. */
export async function storeToken(
  db: Db,
  keys: Keys,
  service: Service,
  connectionId: string,
  { token, validSeconds }: { token: string; validSeconds: number },
): Promise<void> {
  const sealed = seal(keys, tokenContext(service.id, connectionId), token)
  await db.run(sql`
    update ecommerce_connection
       set (encrypted_token, token_expires_at, token_lease_until) = (${sealed}, clock_timestamp() + ${validSeconds} * interval '1 s', null)
     where ${ofConnection(service, connectionId)}`)
}

/** Ends the lease of a renewal that failed. */
export const endRenewal = (db: Db, service: Service, connectionId: string) =>
  db.run(sql`update ecommerce_connection set token_lease_until = null where ${ofConnection(service, connectionId)}`)

/** Deletes a token that the platform rejected, unless another process has replaced it. */
export async function deleteToken(db: Db, keys: Keys, service: Service, connectionId: string, token: string) {
  const row = await db.row<{ token: Buffer | null }>(
    sql`select encrypted_token as token from ecommerce_connection where ${ofConnection(service, connectionId)}`,
  )
  if (!row?.token || unsealText(keys, tokenContext(service.id, connectionId), row.token) !== token) return
  await db.run(sql`
    update ecommerce_connection set (encrypted_token, token_expires_at) = (null, null)
     where ${ofConnection(service, connectionId)} and encrypted_token = ${row.token}`)
}
