import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { type IssueState, issueStates, type MappedKind, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'
import { mappingCheckJob } from './platform-items.ts'
import { sides } from './sides.ts'

/** The record (`MappingIssue`) of a row `f` of `mapping_issue`. */
export const issueRecord = (kind: MappedKind) => {
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

/** Returns a page of `MappingIssue`s of one kind, problems first, optionally of one state. */
export const readIssuePage = (
  db: Db,
  service: Service,
  kind: MappedKind,
  state: IssueState | undefined,
  request: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`mapping_issue f`,
      timestampSource: sql`mapping_check`,
      record: issueRecord(kind),
      key: sql`place`,
      live: true,
      where: sql`and kind = ${kind} ${filter(state, value => sql`and state = ${value}`)}`,
    },
    request,
  )

const noIssues = Object.fromEntries(issueStates.map(state => [state, 0]))

/** Returns the result of the last check for each kind (`MappingStatus[]`), as JSON. */
export async function readMappingStatus(db: Db, service: Service): Promise<{ record: string }> {
  const status = await db.row<{ record: string }>(sql`
    select json_agg(json_build_object(
             'kind', k.kind, 'checkedAt', ${rfc3339(sql`m.changed_at`)}, 'listedAt', ${rfc3339(sql`m.listed_at`)}, 'listed', coalesce(m.listed, 0),
             'isRunning', exists (select from job where service_id = ${service.id} and name = ${mappingCheckJob} and due_at <= now()),
             'progress', case when m.to_check > 0 then json_build_object('done', least(m.checked, m.to_check), 'total', m.to_check) end,
             'states', (select ${JSON.stringify(noIssues)}::jsonb || coalesce(jsonb_object_agg(state, issues), '{}')
                          from mapping_count where service_id = ${service.id} and kind = k.kind))
           order by k.place)::text as record
      from unnest(${[...mappedKinds]}::text[]) with ordinality k (kind, place)
      left join mapping_check m on m.service_id = ${service.id} and m.kind = k.kind`)
  if (!status) throw new Error('select of the mapping status returned no row')
  return status
}
