import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { ReferenceKey } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { MappedReferences, SettingsChange } from '../../domain/tenancy/settings-rules.ts'
import { renderCustomers } from '../customers/customers.ts'
import { beginChange, countUpserted, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import { type Merged, type MergeTable, upsertMerged } from '../lists/merge.ts'
import { type PageRequest, readPage } from '../lists/page.ts'
import { lockReferencesSql } from '../lists/references.ts'
import { renderProducts } from './products.ts'

const references: MergeTable = {
  name: 'reference',
  key: ['type', 'reference_value_id'],
  columns: ['service_id', 'type', 'reference_value_id', 'code', 'name'],
}

/** Returns which references of a subscription mapping are in the reference cache, by channel. */
export const findMappedReferences = (
  db: Db,
  service: Service,
  { subscriptionMapping: mapping }: Pick<SettingsChange, 'subscriptionMapping'>,
) => {
  const isStored = (condition: Sql) =>
    sql`exists (select from reference where service_id = ${service.id} and type = m.type ${condition})`
  return db.rows<MappedReferences>(sql`
    select m.channel, ${isStored(sql``)} as type, ${isStored(sql`and reference_value_id = m.yes`)} as yes,
           ${isStored(sql`and reference_value_id = m.no`)} as no
      from json_to_recordset(${JSON.stringify(Object.entries(mapping ?? {}).map(([channel, mapped]) => ({ channel, ...mapped })))})
             as m (channel text, type text, yes text, no text)`)
}

export const toReferenceKey = ({ type, value }: ReferenceKey) => `${type}=${value}`

/** Returns the values that are missing in the reference cache. */
export const findUnknownReferences = (db: Db, service: Service, keys: readonly ReferenceKey[]) =>
  db.rows<ReferenceKey>(sql`
    select distinct k.type, k.value from json_to_recordset(${JSON.stringify(keys)}) as k (type text, value text)
     where not exists (select from reference r where r.service_id = ${service.id} and r.type = k.type and r.reference_value_id = k.value)`)

/** Returns a page of the reference cache, in the form in which `references` are imported. */
export const readReferencePage = (db: Db, service: Service, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`reference`,
      timestampSource: 'customer',
      order: { column: sql`type`, type: 'text' },
      key: sql`reference_value_id`,
      record: sql`
        (select row_to_json(r)::text
           from (select reference.type, reference.reference_value_id as "referenceValueId", reference.code, reference.name) r)`,
      live: true,
    },
    request,
  )

/** Merges rows (`ReferenceRow`) into the reference cache, and renders the customers and products that show them. */
export const upsertReferences = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(tx => mergeReferences(tx, service, rows))

/** Like `upsertReferences`, within a transaction. */
export async function mergeReferences(tx: Db, service: Service, rows: readonly object[]): Promise<Upserted> {
  const keyedRows = rows as readonly { type: string; referenceValueId: string }[]
  const keys = keyedRows.map(({ type, referenceValueId }) => [type, referenceValueId] as const)
  await lockRows(tx, lockReferencesSql(service, keys, 'no key update'))
  const written = await tx.rows<Merged<'type' | 'reference_value_id'>>(upsertMerged(service, references, rows))
  if (written.length) {
    const change = await beginChange(tx, service, ['customer', 'product'])
    const showsValue = (alias: 'c' | 'p') => sql`
      and exists (select from jsonb_each_text(${alias === 'c' ? sql`c` : sql`p`}.reference_values) v
                   join json_to_recordset(${JSON.stringify(written)}) as t (type text, reference_value_id text) on t.type = v.key and t.reference_value_id = v.value)`
    await renderCustomers(tx, service, change, showsValue('c'))
    await renderProducts(tx, service, change, showsValue('p'))
  }
  return countUpserted(written)
}
