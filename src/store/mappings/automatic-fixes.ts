import { randomUUID } from 'node:crypto'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addAuditEntry } from '../audit/audit.ts'
import { buildFields, changeMapping, isMappedTo, listMappingChanges, pickFields } from './change-mapping.ts'
import { recordFix } from './fixes.ts'
import { lockMapping } from './mappings.ts'

/** The user name of automatic fixes. It can't be the name of an account. */
const automaticUsername = 'tillbridge (e-commerce)'

interface AutomaticFix {
  kind: MappedKind
  /** Our record. */
  id: string
  /** The platform item that the record must be mapped to before the fix. Null: unmapped. */
  from: string | null
  to: string
}

/**
 * Maps a record as a fix that can be undone, with an audit entry. Returns false if the mapping has changed, another SKU has the target, or
 * the same fix was undone before.
 */
export async function applyAutomaticFix(
  tx: Db,
  service: Service,
  { kind, id, from, to }: AutomaticFix,
): Promise<boolean> {
  const locked = await lockMapping(tx, service, kind, id)
  if (!locked) return false
  const before = pickFields(kind, locked.record)
  if (!isMappedTo(id, before, from) || (await wasUndone(tx, service, { kind, id, to }))) return false
  const change = buildFields(kind, before, to)
  const record = await changeMapping(tx, service, kind, { id, before: locked.record, change })
  if (record === undefined) return false
  const requestId = randomUUID()
  const after = pickFields(kind, record)
  await recordFix(tx, service, { kind, recordId: id, before, after, username: automaticUsername, requestId })
  await addAuditEntry(tx, service, {
    username: automaticUsername,
    requestId,
    operation: 'POST /mappings/fixes',
    subject: `/mappings/${kind}/${encodeURIComponent(id)}`,
    body: { kind, id, to },
    changes: listMappingChanges(kind, before, after),
  })
  return true
}

const wasUndone = async (tx: Db, service: Service, { kind, id, to }: Omit<AutomaticFix, 'from'>) =>
  (await tx.run(sql`
    select from mapping_fix
     where service_id = ${service.id} and kind = ${kind} and record_id = ${id} and username = ${automaticUsername} and undone_at is not null
       and ${to} in (after->>'ecommerceSku', after->>'ecommerceLegacyId')`)) > 0

/** Fixes that one mapping check makes at most. The next check continues. */
const maxFixes = 5_000

/**
 * Maps SKUs to variants of the platform with the same barcode, and returns the number of fixes. Maps a SKU if all of these are true.
 * - It is unmapped (`sku = sku_id`), and the mapping check suggests the variant.
 * - No other SKU has the barcode, and no other variant of the platform has it in any notation (`near_other`).
 * - No SKU is mapped to the variant, and the variant is not a gift card.
 * Aliases: `f` is the issue, `v` our variant, `e` the platform's variant, and `o` any other one.
 */
export async function mapExactMatches(db: Database, service: Service, signal: AbortSignal): Promise<number> {
  const candidates = await db.rows<{ id: string; to: string }>(sql`
    select v.sku_id as id, e.ecommerce_id as to
      from mapping_issue f
      join variant v on v.service_id = f.service_id and v.sku_id = f.id
      join (select barcode from variant where service_id = ${service.id} group by barcode having count(*) = 1) single using (barcode)
      join ecommerce_item e on e.service_id = f.service_id and e.kind = 'skus' and e.ecommerce_id = f.suggestion and e.other = v.barcode
     where f.service_id = ${service.id} and f.kind = 'skus' and f.side = 'here' and f.state = 'nearMatch' and v.sku = v.sku_id
       and barcode <> '' and e.is_gift_card is not true
       and (select count(*) from ecommerce_item o
             where o.service_id = e.service_id and o.kind = e.kind and o.near_other = e.near_other) = 1
       and not exists (select from variant o where o.service_id = v.service_id and o.sku = e.ecommerce_id)
     order by v.sku_id limit ${maxFixes}`)
  let fixed = 0
  for (const { id, to } of candidates) {
    signal.throwIfAborted()
    if (await db.transaction(tx => applyAutomaticFix(tx, service, { kind: 'skus', id, from: null, to }))) fixed++
  }
  return fixed
}
