import { randomBytes } from 'node:crypto'
import type { Keys } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Role } from '../../domain/accounts.ts'
import { type ApiKeyInUse, apiKeyPrefix } from '../../domain/api-keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { hashPassword } from './accounts.ts'

interface NewApiKey {
  username: string
  name: string
  scopes?: readonly string[] | null | undefined
  stores?: readonly string[] | null | undefined
  expiresInDays?: number | null | undefined
}

/** SQL for the record (`ApiKey`) of a row of `api_key`. */
const record = (service: Service) => sql`
  (select row_to_json(r)::text from (select api_key.name, api_key.scopes, api_key.stores, ${localTime(sql`api_key.created_at`, service)} as "createdAt",
     ${localTime(sql`api_key.expires_at`, service)} as "expiresAt", ${localTime(sql`api_key.used_at`, service)} as "lastUsedAt") r)`

/** Returns the records of an account's keys in a service by name, as JSON text. */
export const listApiKeyRecords = (db: Db, service: Service, username: string) =>
  db.rows<{ record: string }>(sql`
    select ${record(service)} as record from api_key where service_id = ${service.id} and username = ${username} order by name`)

/** Returns the keys of all accounts in a service, by account and name. */
export const listApiKeysOfService = (db: Db, service: Service) =>
  db.rows<{
    username: string
    name: string
    scopes: string[] | null
    stores: string[] | null
    role: Role
    createdAt: string
    expiresAt: string | null
    isExpired: boolean
    lastUsedAt: string | null
  }>(sql`
    select username, name, scopes, stores, role, ${localTime(sql`api_key.created_at`, service)} as "createdAt",
           ${localTime(sql`expires_at`, service)} as "expiresAt", coalesce(expires_at <= now(), false) as "isExpired",
           ${localTime(sql`used_at`, service)} as "lastUsedAt"
      from api_key join account_service using (service_id, username)
     where service_id = ${service.id} order by username, name`)

/** Returns the record of a key, as JSON text. */
export const findApiKeyRecord = (db: Db, service: Service, username: string, name: string) =>
  db.row<{ record: string }>(sql`
    select ${record(service)} as record from api_key where service_id = ${service.id} and username = ${username} and name = ${name}`)

/** Creates a key. Returns it, to be shown once. Returns undefined if the account has a key with this name in the service. */
export async function createApiKey(
  tx: Db,
  keys: Keys,
  service: Service,
  { username, name, scopes, stores, expiresInDays }: NewApiKey,
): Promise<string | undefined> {
  const key = `${apiKeyPrefix}${randomBytes(32).toString('base64url')}`
  const created = await tx.run(sql`
    insert into api_key (service_id, username, name, key_hash, scopes, stores, expires_at)
    values (${service.id}, ${username}, ${name}, ${hashPassword(keys, username, key)}, ${scopes ?? null}, ${stores ?? null},
            now() + ${expiresInDays ?? null}::integer * interval '1 day')
    on conflict do nothing`)
  return created ? key : undefined
}

/** Returns the number of an account's keys in a service. */
export async function countApiKeys(tx: Db, service: Service, username: string): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::integer as count from api_key where service_id = ${service.id} and username = ${username}`)
  return row?.count ?? 0
}

/** Revokes a key. Returns false if it doesn't exist. */
export const revokeApiKey = async (tx: Db, service: Service, username: string, name: string) =>
  (await tx.run(sql`
    delete from api_key where service_id = ${service.id} and username = ${username} and name = ${name}`)) > 0

/** A key that can be used now, with its stored hash. */
export interface StoredApiKey extends ApiKeyInUse {
  serviceId: number
  hash: Buffer
}

/** Finds a key that has not expired by the hashes that can be stored for it. */
export const findApiKey = (db: Db, username: string, hashes: Buffer[]) =>
  db.row<StoredApiKey>(sql`
    select service_id as "serviceId", name, scopes, stores, key_hash as hash from api_key
     where username = ${username} and key_hash = any(${hashes}::bytea[]) and (expires_at is null or expires_at > now())`)

/** Replaces the stored hash of a key by one that was made with the newest secret. */
export const replaceApiKeyHash = (db: Db, username: string, stored: Buffer, hash: Buffer) =>
  db.run(sql`update api_key set key_hash = ${hash} where username = ${username} and key_hash = ${stored}`)

/** Lists all keys of the installation, or of one account. */
export const listApiKeys = (db: Db, username?: string) =>
  db.rows<{
    service: string
    username: string
    name: string
    scopes: string[] | null
    stores: string[] | null
    created: Date
    expires: Date | null
    used: Date | null
  }>(sql`
    select s.name as service, k.username, k.name, k.scopes, k.stores, k.created_at as created, k.expires_at as expires, k.used_at as used
      from api_key k join service s using (service_id)
     where ${username ?? null}::text is null or k.username = ${username ?? null}
     order by 2, 1, 3`)
