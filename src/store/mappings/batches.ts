/**
 * Accepts many suggestions of the mapping check as one batch of fixes, which one undo restores. Batches are applied and undone in parts, so
 * that no transaction holds its locks for long.
 */
import { randomUUID } from 'node:crypto'
import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Actor, AuditChange } from '../../domain/audit.ts'
import { type MappedKind, sureReasons } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { areSame, buildFields, changeMappings, isMappedTo, listMappingChanges, pickFields } from './change-mapping.ts'
import { isKept, type MappingFields, recordFix } from './fixes.ts'
import { lockMapping } from './mappings.ts'
import { sides } from './sides.ts'

/** Mappings that one transaction changes. */
const partSize = 100
const maxPreviewed = 10
const maxBatches = 50

/** The reason of a suggestion in a row `f` of `mapping_issue`. */
const reason = sql`(f.evidence->0->>'reason')`

/**
 * Selects the issues with a sure suggestion: one candidate for one sure reason. The platform has the candidate once, and no other record
 * has it as its suggestion.
 */
const sureIssues = (service: Service, kind: MappedKind) => sql`
    from mapping_issue f
   where f.service_id = ${service.id} and f.kind = ${kind} and f.state = 'nearMatch' and f.side = 'here'
     and jsonb_array_length(f.evidence) = 1 and ${reason} = any(${[...sureReasons]})
     and not exists (select from mapping_issue o
                      where o.service_id = f.service_id and o.kind = f.kind and o.suggestion = f.suggestion and o.id <> f.id)
     and (select count(*) from ecommerce_item e
           where e.service_id = f.service_id and e.kind = f.kind and e.ecommerce_id = f.suggestion) = 1`

/** Counts the sure suggestions by reason, and returns the most important ones. */
export async function previewSuggestions(db: Db, service: Service, kind: MappedKind, onlyReason: string | undefined) {
  const [reasons, rows] = await Promise.all([
    db.rows<{ reason: string; count: number }>(
      sql`select ${reason} as reason, count(*)::integer as count ${sureIssues(service, kind)} group by 1 order by 2 desc, 1`,
    ),
    db.rows<{ id: string; name: string | null; from: string | null; to: string; reason: string }>(sql`
      select f.id, ${sides[kind].name} as name, f.ecommerce_id as "from", f.suggestion as "to", ${reason} as reason
             ${sureIssues(service, kind)} and (${onlyReason ?? null}::text is null or ${reason} = ${onlyReason ?? null})
       order by f.place limit ${maxPreviewed}`),
  ])
  return { reasons, rows }
}

/** The changes of one record of a batch, for the audit log. */
const listRecordChanges = (kind: MappedKind, id: string, before: MappingFields, after: MappingFields): AuditChange[] =>
  (listMappingChanges(kind, before, after) ?? []).map(change => ({ ...change, field: id }))

interface Part {
  kind: MappedKind
  reason?: string | undefined
  batchId?: string | undefined
  /** The last record of the previous part. */
  after?: string | undefined
}

/** Accepts the next sure suggestions, in the order of their records. `next`: the last record, or null if there are no more. */
export async function acceptSuggestions(
  tx: Db,
  service: Service,
  { kind, reason: onlyReason, batchId = randomUUID(), after = '' }: Part,
  actor: Actor,
) {
  const suggestions = await tx.rows<{ id: string; from: string | null; to: string }>(sql`
    select f.id, f.ecommerce_id as "from", f.suggestion as "to"
           ${sureIssues(service, kind)} and f.id > ${after} and (${onlyReason ?? null}::text is null or ${reason} = ${onlyReason ?? null})
     order by f.id limit ${partSize}`)
  const changes = []
  for (const { id, from, to } of suggestions) {
    const locked = await lockMapping(tx, service, kind, id)
    if (!locked) continue
    const before = pickFields(kind, locked.record)
    if (isMappedTo(id, before, from)) changes.push({ id, before: locked.record, change: buildFields(kind, before, to) })
  }
  const changed = await changeMappings(tx, service, kind, changes)
  const audited: AuditChange[] = []
  for (const { id, before } of changes) {
    const record = changed.get(id)
    if (record === undefined) continue
    const fields = { before: pickFields(kind, before), after: pickFields(kind, record) }
    await recordFix(tx, service, { kind, recordId: id, ...fields, ...actor, batchId })
    audited.push(...listRecordChanges(kind, id, fields.before, fields.after))
  }
  const result = {
    id: batchId,
    changed: changed.size,
    skipped: suggestions.length - changed.size,
    next: suggestions.length === partSize ? (suggestions.at(-1)?.id ?? null) : null,
  }
  return { result, changes: audited }
}

/** True if a batch has fixes of the last 90 days. */
export const batchExists = async (db: Db, service: Service, batchId: string, kind?: MappedKind) =>
  (await db.run(sql`
    select from mapping_fix
     where service_id = ${service.id} and batch_id = ${batchId} and ${isKept} and (${kind ?? null}::text is null or kind = ${kind ?? null})
     limit 1`)) > 0

/** Undoes the next fixes of a batch. Skips mappings that have changed since. `next`: the last fix, or null if there are no more. */
export async function undoBatch(tx: Db, service: Service, batchId: string, after = '') {
  const fixes = await tx.rows<{
    id: string
    kind: MappedKind
    recordId: string
    before: MappingFields
    after: MappingFields
    isUndone: boolean
  }>(sql`
    select fix_id as id, kind, record_id as "recordId", before, after, undone_at is not null as "isUndone"
      from mapping_fix
     where service_id = ${service.id} and batch_id = ${batchId} and fix_id > ${after} and ${isKept}
     order by fix_id limit ${partSize} for update`)
  const open = fixes.filter(({ isUndone }) => !isUndone).sort((a, b) => (a.recordId < b.recordId ? -1 : 1))
  const undone: string[] = []
  const audited: AuditChange[] = []
  for (const [kind, ofKind] of Map.groupBy(open, fix => fix.kind)) {
    const changes = []
    for (const fix of ofKind) {
      const locked = await lockMapping(tx, service, kind, fix.recordId)
      if (locked && areSame(kind, pickFields(kind, locked.record), fix.after))
        changes.push({ id: fix.recordId, before: locked.record, change: fix.before })
    }
    const changed = await changeMappings(tx, service, kind, changes)
    for (const fix of ofKind) {
      if (!changed.has(fix.recordId)) continue
      undone.push(fix.id)
      audited.push(...listRecordChanges(kind, fix.recordId, fix.after, fix.before))
    }
  }
  await tx.run(
    sql`update mapping_fix set undone_at = now() where service_id = ${service.id} and fix_id = any(${undone})`,
  )
  const result = {
    id: batchId,
    changed: undone.length,
    skipped: open.length - undone.length,
    next: fixes.length === partSize ? (fixes.at(-1)?.id ?? null) : null,
  }
  return { result, changes: audited }
}

/** Returns the newest batches with the number of their fixes. */
export const listBatches = (db: Db, service: Service) =>
  db.rows<{ id: string; kind: string; username: string; fixedAt: string; fixes: number; undone: number }>(sql`
    select batch_id as id, min(kind) as kind, min(username) as username, ${rfc3339(sql`min(changed_at)`)} as "fixedAt",
           count(*)::integer as fixes, count(undone_at)::integer as undone
      from mapping_fix
     where service_id = ${service.id} and batch_id is not null and ${isKept}
     group by batch_id order by min(changed_at) desc limit ${maxBatches}`)
