import { hasDigest, idLength, type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, raw, sql } from '../../database/db.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { getSecondFactorContext } from '../accounts/second-factors.ts'
import { getPasswordContext, getSftpPasswordContext } from '../backoffice/connections.ts'
import { previousSecretContext, secretContext, tokenContext } from '../ecommerce/connections.ts'
import { getEmailContext } from '../mail/emails.ts'
import { getValidationContext } from '../vouchers/upstream.ts'
import { getWebhookContext } from '../webhooks/secrets.ts'
import { getResponseContext } from '../writes/idempotency.ts'
import { getIntentContext } from '../writes/intents.ts'
import { getShardUrlContext, sealLookup } from './shards.ts'

/**
 * Replaces the secret key in one database while processes run (contributing/decisions/0037-key-ring.md).
 * `beginRotation` marks the database. `reencrypt` encrypts the values of the previous secret again. `endRotation` ends the rotation when
 * `countRemaining` returns zeros.
 */

/** A primary key as JSON: a hash is its hexadecimal form after `\\x`. */
interface RowKey {
  service_id: number
  [column: string]: string | number
}

/** A column with encrypted values, the primary key of its table, and the context of a row's value. */
interface SealedColumn {
  table: string
  column: string
  key: readonly string[]
  context: (key: RowKey) => string
}

/** A column of a table whose primary key is `service_id` and `id`. */
const inService = (
  table: string,
  column: string,
  id: string,
  context: (service: { id: number }, id: string) => string,
): SealedColumn => ({
  table,
  column,
  key: ['service_id', id],
  context: row => context({ id: row.service_id }, String(row[id])),
})

const sealedColumns: readonly SealedColumn[] = [
  { table: 'shard', column: 'url', key: ['name'], context: row => getShardUrlContext(String(row.name)) },
  {
    table: 'second_factor',
    column: 'secret',
    key: ['username'],
    context: row => getSecondFactorContext(String(row.username)),
  },
  { table: 'back_office', column: 'password', key: ['service_id'], context: row => getPasswordContext(row.service_id) },
  {
    table: 'back_office',
    column: 'sftp_password',
    key: ['service_id'],
    context: row => getSftpPasswordContext(row.service_id),
  },
  inService('ecommerce_connection', 'encrypted_secret', 'connection_id', ({ id }, name) => secretContext(id, name)),
  inService('ecommerce_connection', 'encrypted_previous_secret', 'connection_id', ({ id }, name) =>
    previousSecretContext(id, name),
  ),
  inService('ecommerce_connection', 'encrypted_token', 'connection_id', ({ id }, name) => tokenContext(id, name)),
  inService('webhook', 'secret', 'webhook_id', getWebhookContext),
  inService('webhook', 'previous_secret', 'webhook_id', getWebhookContext),
  inService('email', 'encrypted_content', 'email_id', getEmailContext),
  inService('upstream_voucher', 'upstream_validation', 'number', getValidationContext),
  inService('intent', 'request', 'id', (service, id) => getIntentContext(service.id, id)),
  {
    table: 'idempotent_response',
    column: 'response',
    key: ['service_id', 'operation', 'key_hash'],
    context: row =>
      getResponseContext(
        { id: row.service_id },
        String(row.operation),
        Buffer.from(String(row.key_hash).slice(2), 'hex'),
      ),
  },
]

/** Marks the control database with the newest secret. Returns false if another process has done that. */
export const beginRotation = async (control: Db, keys: Keys, previousDigest: Buffer) =>
  (await control.run(sql`
    update installation set secret_digest = ${keys.digest}, previous_digest = ${previousDigest}, lookup_secret = ${sealLookup(keys)}
     where secret_digest = ${previousDigest} and previous_digest is null`)) > 0

/** Marks a shard with the newest secret. Throws if it belongs to another installation. */
export async function markRotatedShard(shard: Db, keys: Keys) {
  const row = await shard.row<{ digest: Buffer }>(sql`select secret_digest as digest from installation`)
  if (!row || !hasDigest(keys, row.digest)) throw new Error('The shard was marked with another secret.')
  await shard.run(sql`
    update installation set secret_digest = ${keys.digest}, lookup_secret = ${sealLookup(keys)} where secret_digest = ${row.digest}`)
}

/** True between the start and the end of a rotation. */
export const isRotating = async (control: Db) =>
  (await control.row(sql`select from installation where previous_digest is not null`)) !== undefined

/** Ends a rotation: processes don't need the previous secret any more. */
export const endRotation = (control: Db) => control.run(sql`update installation set previous_digest = null`)

/** Blocks of a table that are read at a time, about 1,000 rows. */
const blocksPerBatch = 64

/**
 * Encrypts all values of the previous secrets with the newest one. Returns their number. If a value changes at the same time, its writer
 * has encrypted it with the newest secret, so it is skipped. Can run while processes write, and again after a crash.
 */
export async function reencrypt(db: Db, keys: Keys, onProgress: (share: number) => void): Promise<number> {
  let count = 0
  for (const [i, column] of sealedColumns.entries()) {
    const size = await db.row<{ blocks: number }>(sql`
      select (pg_relation_size(${column.table}::regclass) / current_setting('block_size')::integer)::integer as blocks`)
    const blocks = size?.blocks ?? 0
    for (let from = 0; from < blocks; from += blocksPerBatch) {
      count += await reencryptBlocks(db, keys, column, from)
      onProgress((i + from / blocks) / sealedColumns.length)
    }
  }
  return count
}

/** SQL condition: true if a column's value belongs to another secret of SECRET_KEY. */
const isSealedByOtherSecret = (keys: Keys, column: string) =>
  sql`substring(${raw(column)} from 1 for ${idLength}) = any(${keys.otherKeys.map(({ id }) => id)}::bytea[])`

async function reencryptBlocks(db: Db, keys: Keys, { table, column, key: names, context }: SealedColumn, from: number) {
  const key = raw(`json_build_object(${names.map(name => `'${name}', ${name}`).join(', ')})`)
  const rows = await db.rows<{ key: RowKey; sealed: Buffer }>(sql`
    select ${key} as key, ${raw(column)} as sealed from ${raw(table)}
     where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + blocksPerBatch},0)`}::tid and ${isSealedByOtherSecret(keys, column)}`)
  let count = 0
  for (const row of rows) {
    const isRow = names
      .map(name => sql`${raw(name)} = ${row.key[name]}`)
      .reduce((all, condition) => sql`${all} and ${condition}`)
    const sealed = seal(keys, context(row.key), unseal(keys, context(row.key), row.sealed))
    count += await db.run(sql`
      update ${raw(table)} set ${raw(column)} = ${sealed} where ${isRow} and ${raw(column)} = ${row.sealed}`)
    failpoint('secret_value_reencrypted')
  }
  return count
}

/** Values that still need another secret. Hashes are replaced at their next use. */
export interface RemainingValues {
  encrypted: number
  passwords: number
  pins: number
}

/** Counts the values in a database that still need another secret than the newest one. */
export async function countRemaining(db: Db, keys: Keys): Promise<RemainingValues> {
  const counts = sealedColumns.map(
    ({ table, column }) => sql`(select count(*) from ${raw(table)} where ${isSealedByOtherSecret(keys, column)})`,
  )
  const row = await db.row<RemainingValues>(sql`
    select (${counts.reduce((all, count) => sql`${all} + ${count}`)})::integer as encrypted,
           (select count(*)::integer from account_password where ${isSealedByOtherSecret(keys, 'password_hash')}) +
           (select count(*)::integer from api_key where ${isSealedByOtherSecret(keys, 'key_hash')}) as passwords,
           (select count(*)::integer from voucher where ${isSealedByOtherSecret(keys, 'pin_hash')}) as pins`)
  if (!row) throw new Error('count of the remaining values returned no row')
  return row
}
