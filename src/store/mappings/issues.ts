import { type Db, sql } from '../../database/db.ts'
import { type FindingState, findingStates, type MappedKind, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'
import { rfc3339 } from '../lists/rfc3339.ts'
import { judgeJob } from './platform-items.ts'
import { sides } from './sides.ts'

/** The record (`MappingFinding`) of a row `f` of `mapping_finding`. */
export const findingRecord = (kind: MappedKind) => {
  const adminId =
    kind === 'customers'
      ? sql`(select c.ecommerce_admin_id from customer c where c.service_id = f.service_id and c.id = f.id and f.side = 'here')`
      : sql`null::text`
  return sql`
  (select row_to_json(r)::text from (select
     case f.side when 'here' then f.id end as id, case f.side when 'here' then ${sides[kind].name} end as name, f.state,
     f.ecommerce_id as "ecommerceId", ${adminId} as "ecommerceAdminId", f.suggestion,
     (select e.name from ecommerce_item e
       where e.service_id = f.service_id and e.kind = f.kind and e.ecommerce_id = coalesce(f.suggestion, f.ecommerce_id) order by e.item_key limit 1) as "ecommerceName",
     f.evidence, f.units_in_stock as "unitsInStock", f.units_sold as "unitsSold") r)`
}

/** What was found of one kind (`MappingFinding`), the worst first; all of it, or what is in one state. */
export const findingPage = (
  db: Db,
  service: Service,
  kind: MappedKind,
  state: FindingState | undefined,
  asked: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`mapping_finding f`,
      stamps: sql`mapping_judgement`,
      record: findingRecord(kind),
      key: sql`place`,
      live: true,
      where: sql`and kind = ${kind} ${filter(state, one => sql`and state = ${one}`)}`,
    },
    asked,
  )

const none = Object.fromEntries(findingStates.map(state => [state, 0]))

/** How the mappings of each kind stand (`MappingHealth[]`), as JSON text. */
export async function mappingHealth(db: Db, service: Service): Promise<{ record: string }> {
  const found = await db.row<{ record: string }>(sql`
    select json_agg(json_build_object(
             'kind', k.kind, 'judgedAt', ${rfc3339(sql`m.changed_at`)}, 'listedAt', ${rfc3339(sql`m.listed_at`)}, 'listed', coalesce(m.listed, 0),
             'isJudging', exists (select from job where service_id = ${service.id} and name = ${judgeJob} and due_at <= now()),
             'progress', case when m.to_judge > 0 then json_build_object('done', least(m.judged, m.to_judge), 'of', m.to_judge) end,
             'states', (select ${JSON.stringify(none)}::jsonb || coalesce(jsonb_object_agg(state, findings), '{}')
                          from mapping_count where service_id = ${service.id} and kind = k.kind))
           order by k.place)::text as record
      from unnest(${[...mappedKinds]}::text[]) with ordinality k (kind, place)
      left join mapping_judgement m on m.service_id = ${service.id} and m.kind = k.kind`)
  if (!found) throw new Error('an aggregate answers one row')
  return found
}
