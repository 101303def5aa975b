import { type Database, type Db, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import type { Upserted } from '../lists/change-timestamp.ts'
import { countUpsert } from '../lists/change-timestamp.ts'

/** Something that the e-commerce platform has. */
export interface EcommerceItem {
  itemKey: string
  /** Null: it cannot be mapped to, and is left out. */
  ecommerceId: string | null
  name: string | null
  other: string | null
}

/** The job that judges the mappings of a service. */
export const judgeJob = 'judge-mappings'

/** Has the mappings of a service judged; where that is under way, once more behind it. */
export const askForJudgement = (tx: Db, service: Service) => addJob(tx, service.id, judgeJob)

/** Takes in what the platform has of one kind. The last one of several with one key counts; what is there just so is only seen again. */
export const upsertItems =
  (kind: MappedKind) =>
  (db: Database, service: Service, items: readonly EcommerceItem[]): Promise<Upserted> => {
    const told = [
      ...new Map(items.filter(item => item.ecommerceId !== null).map(item => [item.itemKey, item])).values(),
    ]
    return db.transaction(async tx => {
      const seen = await countUpsert(
        tx,
        sql`
          insert into ecommerce_item as e (service_id, kind, item_key, ecommerce_id, name, other, seen_at)
          select ${service.id}, ${kind}, i."itemKey", i."ecommerceId", i.name, i.other, now()
            from json_to_recordset(${JSON.stringify(told)}) i ("itemKey" text, "ecommerceId" text, name text, other text)
           order by i."itemKey" collate "C"
          on conflict (service_id, kind, item_key) do update
             set (ecommerce_id, name, other, seen_at) = row(excluded.ecommerce_id, excluded.name, excluded.other, excluded.seen_at)
           where (e.ecommerce_id, e.name, e.other) is distinct from (excluded.ecommerce_id, excluded.name, excluded.other)
          returning (xmax = 0) as inserted`,
      )
      await tx.run(sql`
        update ecommerce_item set seen_at = now()
         where service_id = ${service.id} and kind = ${kind} and item_key = any(${told.map(item => item.itemKey)}) and seen_at < now()`)
      return seen
    })
  }

/** How a file has ended. `isWhole`: it is all that there is, and no line of it was refused; `hasCome`: it came to its end, and something of it is in. */
export interface Ended {
  isWhole: boolean
  hasCome: boolean
}

/**
 * A file of what the platform has of one kind: once it is in, what a whole one does not have is gone, and the mappings are judged anew.
 * Until one has come to its end with something in it, nobody knows what is there.
 */
export const openList = (kind: MappedKind) => async (db: Database, service: Service) => {
  const began = await db.row<{ at: string }>(sql`select now()::text as at`)
  return ({ isWhole, hasCome }: Ended) =>
    db.transaction(async tx => {
      const mine = sql`service_id = ${service.id} and kind = ${kind}`
      const gone = isWhole
        ? await tx.run(sql`delete from ecommerce_item where ${mine} and seen_at < ${began?.at ?? null}::timestamptz`)
        : 0
      if (hasCome)
        await tx.run(sql`insert into mapping_judgement (service_id, kind, listed_at) values (${service.id}, ${kind}, now())
          on conflict (service_id, kind) do update set listed_at = coalesce(mapping_judgement.listed_at, excluded.listed_at)`)
      await tx.run(sql`
        update mapping_judgement set (listed_at, listed) = row(now(), (select count(*) from ecommerce_item where ${mine}))
         where ${mine} and listed_at is not null`)
      await askForJudgement(tx, service)
      return gone
    })
}

/** Mappings came in a file: where the doctor looks after them, they are judged anew. */
export const openMappings = async (db: Database, service: Service) => async () => {
  if (await isLookedAfter(db, service)) await db.transaction(tx => askForJudgement(tx, service))
  return 0
}

/** Whether anybody has ever had mappings of the service judged, or is about to. */
export const isLookedAfter = async (db: Db, service: Service) =>
  (await db.run(sql`
    select from job where service_id = ${service.id} and name = ${judgeJob}
    union all select from mapping_judgement where service_id = ${service.id}`)) > 0
