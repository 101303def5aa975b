import { type Db, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { materialized } from '../lists/planner-fences.ts'
import { hasMappingChecks } from './platform-items.ts'
import { mappedTo, sides } from './sides.ts'

/**
 * Locks the mapping check of a kind until the transaction ends. Take it before you change a mapping: of two concurrent checks, the one
 * that read the older state could write last, and a later lock could deadlock.
 */
export const lockMappingCheck = (tx: Db, service: Service, kind: MappedKind) =>
  tx.run(sql`select pg_advisory_xact_lock(${service.id}, hashtext(${`mapping check ${kind}`}))`)

/** Near matches that are stored with a record. */
const maxCandidates = sql`5`
/** A value that more items share, such as a placeholder barcode, is no evidence. */
const maxAlike = sql`50`

/** SQL for the evidence of a row `h` without a matching item: similar items that no record is mapped to, best first. */
const nearMatches = (service: Service, kind: MappedKind): Sql => {
  const { isClaimed, secondEvidence } = sides[kind]
  const alike = (column: Sql, forms: Sql) => sql`
    select match.* from unnest(${forms}) form cross join lateral (
      select service_id, ecommerce_id, near_other from ecommerce_item
       where service_id = ${service.id} and kind = ${kind} and ${column} = form limit ${maxAlike}) match`
  return sql`
    select jsonb_agg(jsonb_build_object('reason', why, 'ecommerceId', ecommerce_id, 'id', null) order by rank, ecommerce_id) as evidence,
           (array_agg(ecommerce_id order by rank, ecommerce_id))[1] as best
      from (select ecommerce_id, why, array_position(array['same', ${secondEvidence}, 'case', 'whitespace', 'leadingZeros', 'form'], why) as rank
              from (select distinct e.ecommerce_id,
                           coalesce(case when e.near_other = any(h.others) then ${secondEvidence}::text end, likeness(h.own, e.ecommerce_id), ${secondEvidence}) as why
                      from (${alike(sql`near_id`, sql`h.near`)} union all ${alike(sql`near_other`, sql`h.others`)}) e
                     where not ${isClaimed}) candidate
             order by rank, ecommerce_id limit ${maxCandidates}) best`
}

/** Updates an issue only if it differs. */
const upsertIfChanged = sql`
  on conflict (service_id, kind, side, id) do update
     set (state, ecommerce_id, suggestion, evidence, units_in_stock, units_sold)
       = row(excluded.state, excluded.ecommerce_id, excluded.suggestion, excluded.evidence, excluded.units_in_stock, excluded.units_sold)
   where (f.state, f.ecommerce_id, f.suggestion, f.evidence, f.units_in_stock, f.units_sold)
         is distinct from (excluded.state, excluded.ecommerce_id, excluded.suggestion, excluded.evidence, excluded.units_in_stock, excluded.units_sold)`

/**
 * Checks the records with these IDs. `stock`: the units of each store, as JSON.
 * Aliases: `h` is a record (`Side.here`) with the normalized forms of all its values (`near`). `t` has the number of platform items with its
 * platform ID (`times`). `n` has its near matches. `j` has all of these and the resulting state.
 */
export const checkRecords = (
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
  stock = '{}',
): Promise<number> =>
  tx.run(sql`
    insert into mapping_issue as f (service_id, kind, side, id, state, ecommerce_id, suggestion, evidence, units_in_stock, units_sold)
    select ${service.id}, ${kind}, 'here', j.id, j.state, case when j.is_mapped or j.times > 0 then j.mapped end,
           case j.state when 'nearMatch' then j.best end,
           case j.state when 'nearMatch' then j.near_by
                when 'duplicate' then
                  case when j.times > 1 then jsonb_build_array(jsonb_build_object('reason', 'double', 'ecommerceId', j.mapped, 'id', null)) else '[]' end
                  || (select coalesce(jsonb_agg(jsonb_build_object('reason', 'shared', 'ecommerceId', j.mapped, 'id', other)), '[]') from unnest(j.shared) other)
                  || case when j.is_clash then (select jsonb_agg(jsonb_build_object('reason', 'clash', 'ecommerceId', o, 'id', null)) from unnest(j.own) o) else '[]' end
                else '[]' end,
           j.in_stock, j.sold
      from ${materialized(sql`select h.*, t.times, n.evidence as near_by, n.best,
                   (select coalesce(sum(r.units), 0) from recent_sale r
                     where r.service_id = ${service.id} and r.kind = ${kind} and r.name = any(h.sold_as)) as sold,
                   case when t.times > 1 or cardinality(h.shared) > 0 or h.is_clash then 'duplicate' when t.times = 1 then 'matched'
                        when n.best is not null then 'nearMatch' when not h.is_mapped then 'unmapped' when t.is_listed then 'orphaned'
                        else 'unverified' end as state
              from ${materialized(sql`select side.*, side.others || array(select near_form(o) from unnest(side.own) o) as near
                      from (${sides[kind].here(service, ids, stock)}) side`)} h
              cross join lateral ${materialized(sql`
                select (select count(*) from ecommerce_item e
                         where e.service_id = ${service.id} and e.kind = ${kind} and e.ecommerce_id = h.mapped) as times,
                       exists (select from mapping_check m
                                where m.service_id = ${service.id} and m.kind = ${kind} and m.listed_at is not null) as is_listed`)} t
              left join lateral (${nearMatches(service, kind)}) n on t.times = 0`)} j
     order by j.id
    ${upsertIfChanged}`)

/** Checks the platform items with these IDs: lists those that no record is mapped to and that are no suggestion. */
export async function checkPlatformItems(
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
): Promise<void> {
  const free = sql`
    select distinct e.ecommerce_id as id from ecommerce_item e
     where e.service_id = ${service.id} and e.kind = ${kind} and e.ecommerce_id = any(${ids}) and not ${sides[kind].isClaimed}
       and not exists (select from mapping_issue o
                        where o.service_id = e.service_id and o.kind = e.kind and o.suggestion = e.ecommerce_id)`
  await tx.run(sql`
    delete from mapping_issue
     where service_id = ${service.id} and kind = ${kind} and side = 'there' and id = any(${ids}) and id not in (${free})`)
  await tx.run(sql`
    insert into mapping_issue (service_id, kind, side, id, state, ecommerce_id)
    select ${service.id}, ${kind}, 'there', u.id, 'platformOnly', u.id from (${free}) u order by u.id
    on conflict do nothing`)
}

/** Checks records again, the platform items that were or are now suggested for them, and the platform items with these IDs. */
export async function recheckRecords(
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
  ecommerceIds: readonly string[] = [],
): Promise<void> {
  const listSuggested = async () =>
    (
      await tx.rows<{ suggestion: string }>(sql`
        select suggestion from mapping_issue
         where service_id = ${service.id} and kind = ${kind} and side = 'here' and id = any(${ids}) and suggestion is not null`)
    ).map(({ suggestion }) => suggestion)
  const before = await listSuggested()
  await checkRecords(tx, service, kind, ids)
  await checkPlatformItems(tx, service, kind, [...new Set([...ecommerceIds, ...before, ...(await listSuggested())])])
}

/** Checks every record that changed mappings affect. `ecommerceIds`: their platform IDs before and after. Needs `lockMappingCheck`. */
export async function checkChangedMappings(
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
  ecommerceIds: readonly string[],
): Promise<void> {
  if (!(await hasMappingChecks(tx, service))) return
  const affected = await tx.rows<{ id: string }>(sql`
    select id from mapping_issue
     where service_id = ${service.id} and kind = ${kind} and side = 'here' and suggestion = any(${ecommerceIds})
    union ${mappedTo(service, kind, ecommerceIds)}`)
  await recheckRecords(tx, service, kind, [...new Set([...ids, ...affected.map(record => record.id)])], ecommerceIds)
}
