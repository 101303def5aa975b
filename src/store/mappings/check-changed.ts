import { type Db, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isLookedAfter } from './platform-items.ts'
import { mappedTo, sides } from './sides.ts'

/**
 * One at a time judges a kind, or changes a mapping of it: of two, the one that has read the older state could write last. To be held
 * before a mapping is changed: others would wait for a change that waits itself.
 */
export const holdJudgement = (tx: Db, service: Service, kind: MappedKind) =>
  tx.run(sql`select pg_advisory_xact_lock(${service.id}, hashtext(${`judge ${kind}`}))`)

/** How many things that are almost it are told of a record. */
const candidatesTold = sql`5`
/** What more have in common than this, such as a barcode that stands for none, says nothing of one of them. */
const mostAlike = sql`50`

/** The evidence of a row `h` that is found nowhere as it is mapped: what is near to it, the best first, of what nobody else goes by. */
const nearTo = (service: Service, kind: MappedKind): Sql => {
  const { isClaimed, known } = sides[kind]
  const alike = (column: Sql, forms: Sql) => sql`
    select alike.* from unnest(${forms}) form cross join lateral (
      select service_id, ecommerce_id, near_other from ecommerce_item
       where service_id = ${service.id} and kind = ${kind} and ${column} = form limit ${mostAlike}) alike`
  return sql`
    select jsonb_agg(jsonb_build_object('why', why, 'ecommerceId', ecommerce_id, 'id', null) order by rank, ecommerce_id) as evidence,
           (array_agg(ecommerce_id order by rank, ecommerce_id))[1] as best
      from (select ecommerce_id, why, array_position(array['same', ${known}, 'case', 'blanks', 'leadingZeros', 'form'], why) as rank
              from (select distinct e.ecommerce_id,
                           coalesce(case when e.near_other = any(h.others) then ${known}::text end, likeness(h.own, e.ecommerce_id), ${known}) as why
                      from (${alike(sql`near_id`, sql`h.near`)} union all ${alike(sql`near_other`, sql`h.others`)}) e
                     where not ${isClaimed}) candidate
             order by rank, ecommerce_id limit ${candidatesTold}) best`
}

/** What was found so is written where it is not what stands there. */
const unlessSaid = sql`
  on conflict (service_id, kind, side, id) do update
     set (state, ecommerce_id, suggestion, evidence, units_in_stock, units_sold)
       = row(excluded.state, excluded.ecommerce_id, excluded.suggestion, excluded.evidence, excluded.units_in_stock, excluded.units_sold)
   where (f.state, f.ecommerce_id, f.suggestion, f.evidence, f.units_in_stock, f.units_sold)
         is distinct from (excluded.state, excluded.ecommerce_id, excluded.suggestion, excluded.evidence, excluded.units_in_stock, excluded.units_sold)`

/** Judges the records here that have these identifiers. `stock`: units of stores, by identifier, as JSON. */
export const judgeHere = (
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
  stock = '{}',
): Promise<number> =>
  tx.run(sql`
    insert into mapping_finding as f (service_id, kind, side, id, state, ecommerce_id, suggestion, evidence, units_in_stock, units_sold)
    select ${service.id}, ${kind}, 'here', j.id, j.state, case when j.is_mapped or j.times > 0 then j.mapped end,
           case j.state when 'nearMiss' then j.best end,
           case j.state when 'nearMiss' then j.near_by
                when 'twice' then
                  case when j.times > 1 then jsonb_build_array(jsonb_build_object('why', 'double', 'ecommerceId', j.mapped, 'id', null)) else '[]' end
                  || (select coalesce(jsonb_agg(jsonb_build_object('why', 'shared', 'ecommerceId', j.mapped, 'id', other)), '[]') from unnest(j.shared) other)
                  || case when j.is_clash then (select jsonb_agg(jsonb_build_object('why', 'clash', 'ecommerceId', o, 'id', null)) from unnest(j.own) o) else '[]' end
                else '[]' end,
           j.in_stock, j.sold
      from (select h.*, t.times, n.evidence as near_by, n.best,
                   (select coalesce(sum(r.units), 0) from recent_sale r
                     where r.service_id = ${service.id} and r.kind = ${kind} and r.name = any(h.sold_as)) as sold,
                   case when t.times > 1 or cardinality(h.shared) > 0 or h.is_clash then 'twice' when t.times = 1 then 'matched'
                        when n.best is not null then 'nearMiss' when not h.is_mapped then 'missing' when t.is_listed then 'orphan'
                        else 'unchecked' end as state
              from (select one.*, one.others || array(select near_form(o) from unnest(one.own) o) as near
                      from (${sides[kind].here(service, ids, stock)}) one
                     -- Worked out once: what is read of it twice would be worked out twice.
                    offset 0) h
              cross join lateral (
                select (select count(*) from ecommerce_item e
                         where e.service_id = ${service.id} and e.kind = ${kind} and e.ecommerce_id = h.mapped) as times,
                       exists (select from mapping_judgement m
                                where m.service_id = ${service.id} and m.kind = ${kind} and m.listed_at is not null) as is_listed offset 0) t
              left join lateral (${nearTo(service, kind)}) n on t.times = 0 offset 0) j
     order by j.id
    ${unlessSaid}`)

/** Judges what the platform has under these identifiers: what nobody here goes by, or probably is. */
export async function judgeThere(tx: Db, service: Service, kind: MappedKind, ids: readonly string[]): Promise<void> {
  const free = sql`
    select distinct e.ecommerce_id as id from ecommerce_item e
     where e.service_id = ${service.id} and e.kind = ${kind} and e.ecommerce_id = any(${ids}) and not ${sides[kind].isClaimed}
       and not exists (select from mapping_finding o
                        where o.service_id = e.service_id and o.kind = e.kind and o.suggestion = e.ecommerce_id)`
  await tx.run(sql`
    delete from mapping_finding
     where service_id = ${service.id} and kind = ${kind} and side = 'there' and id = any(${ids}) and id not in (${free})`)
  await tx.run(sql`
    insert into mapping_finding (service_id, kind, side, id, state, ecommerce_id)
    select ${service.id}, ${kind}, 'there', u.id, 'unclaimed', u.id from (${free}) u order by u.id
    on conflict do nothing`)
}

/** Judges records here anew, and what the platform has that was suggested to one of them, or is from now on; and this there besides. */
export async function judgeAnew(
  tx: Db,
  service: Service,
  kind: MappedKind,
  ids: readonly string[],
  there: readonly string[] = [],
): Promise<void> {
  const suggested = async () =>
    (
      await tx.rows<{ suggestion: string }>(sql`
        select suggestion from mapping_finding
         where service_id = ${service.id} and kind = ${kind} and side = 'here' and id = any(${ids}) and suggestion is not null`)
    ).map(({ suggestion }) => suggestion)
  const before = await suggested()
  await judgeHere(tx, service, kind, ids)
  await judgeThere(tx, service, kind, [...new Set([...there, ...before, ...(await suggested())])])
}

/** A mapping was changed under `holdJudgement`, of which these identifiers there were told before and after: judges all whom it concerns. */
export async function judgeChanged(
  tx: Db,
  service: Service,
  kind: MappedKind,
  id: string,
  ecommerceIds: readonly string[],
): Promise<void> {
  if (!(await isLookedAfter(tx, service))) return
  const concerned = await tx.rows<{ id: string }>(sql`
    select id from mapping_finding
     where service_id = ${service.id} and kind = ${kind} and side = 'here' and suggestion = any(${ecommerceIds})
    union ${mappedTo(service, kind, ecommerceIds)}`)
  await judgeAnew(tx, service, kind, [...new Set([id, ...concerned.map(one => one.id)])], ecommerceIds)
}
