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

/** Steps of a rotation in one database (contributing/decisions/0037-key-ring.md). */

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

const toService = ({ service_id: id }: RowKey) => ({ id })

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
  {
    table: 'ecommerce_connection',
    column: 'encrypted_secret',
    key: ['service_id', 'connection_id'],
    context: row => secretContext(row.service_id, String(row.connection_id)),
  },
  {
    table: 'ecommerce_connection',
    column: 'encrypted_previous_secret',
    key: ['service_id', 'connection_id'],
    context: row => previousSecretContext(row.service_id, String(row.connection_id)),
  },
  {
    table: 'ecommerce_connection',
    column: 'encrypted_token',
    key: ['service_id', 'connection_id'],
    context: row => tokenContext(row.service_id, String(row.connection_id)),
  },
  {
    table: 'webhook',
    column: 'secret',
    key: ['service_id', 'webhook_id'],
    context: row => getWebhookContext(toService(row), String(row.webhook_id)),
  },
  {
    table: 'webhook',
    column: 'previous_secret',
    key: ['service_id', 'webhook_id'],
    context: row => getWebhookContext(toService(row), String(row.webhook_id)),
  },
  {
    table: 'email',
    column: 'encrypted_content',
    key: ['service_id', 'email_id'],
    context: row => getEmailContext(toService(row), String(row.email_id)),
  },
  {
    table: 'upstream_voucher',
    column: 'upstream_validation',
    key: ['service_id', 'number'],
    context: row => getValidationContext(toService(row), String(row.number)),
  },
  {
    table: 'intent',
    column: 'request',
    key: ['service_id', 'id'],
    context: row => getIntentContext(row.service_id, String(row.id)),
  },
  {
    table: 'idempotent_response',
    column: 'response',
    key: ['service_id', 'operation', 'key_hash'],
    context: row =>
      getResponseContext(toService(row), String(row.operation), Buffer.from(String(row.key_hash).slice(2), 'hex')),
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
 * Encrypts all values of other secrets again, with the newest one. Returns their number. Values that change at the same time are left to
 * their writer, so this can run next to processes, and again after a crash.
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
const isOfOther = (keys: Keys, column: string) =>
  sql`substring(${raw(column)} from 1 for ${idLength}) = any(${keys.otherKeys.map(({ id }) => id)}::bytea[])`

async function reencryptBlocks(db: Db, keys: Keys, { table, column, key: names, context }: SealedColumn, from: number) {
  const key = raw(`json_build_object(${names.map(name => `'${name}', ${name}`).join(', ')})`)
  const rows = await db.rows<{ key: RowKey; sealed: Buffer }>(sql`
    select ${key} as key, ${raw(column)} as sealed from ${raw(table)}
     where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + blocksPerBatch},0)`}::tid and ${isOfOther(keys, column)}`)
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

export async function countRemaining(db: Db, keys: Keys): Promise<RemainingValues> {
  const counts = sealedColumns.map(
    ({ table, column }) => sql`(select count(*) from ${raw(table)} where ${isOfOther(keys, column)})`,
  )
  const row = await db.row<RemainingValues>(sql`
    select (${counts.reduce((all, count) => sql`${all} + ${count}`)})::integer as encrypted,
           (select count(*)::integer from account_password where ${isOfOther(keys, 'password_hash')}) +
           (select count(*)::integer from api_key where ${isOfOther(keys, 'key_hash')}) as passwords,
           (select count(*)::integer from voucher where ${isOfOther(keys, 'pin_hash')}) as pins`)
  if (!row) throw new Error('count of the remaining values returned no row')
  return row
}
