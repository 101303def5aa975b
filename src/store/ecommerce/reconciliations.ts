import { randomUUIDv7 } from 'node:crypto'
import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { type PageRequest, readPage } from '../lists/page.ts'
import { isInMainConnection } from './main-connection.ts'

/** The job that compares our record of the platform's stock with the platform. */
export const reconcileStockJob = 'reconcile-stock'

const retentionDays = 90
/** A level that changed this long before the read may have been read before its change. */
const marginSeconds = 60

const insertedKeys = ({ id }: Service) => sql`${id}, ${mainConnection}`

/** Requests a reconciliation. Returns its ID, or undefined if the connection doesn't compare stock. */
export async function queueReconciliation(tx: Db, service: Service): Promise<string | undefined> {
  const connection = await tx.row<{ isDryRun: boolean }>(sql`
    select settings->>'stockPush' = 'dryRun' as "isDryRun" from ecommerce_connection
     where ${isInMainConnection(service)} and settings->>'stockPush' in ('dryRun', 'on')`)
  if (!connection) return
  await addJob(tx, service.id, reconcileStockJob)
  const queued = await tx.row<{ id: string }>(
    sql`select reconciliation_id as id from ecommerce_reconciliation where ${isInMainConnection(service)} and state = 'queued'`,
  )
  return queued?.id ?? insertReconciliation(tx, service, { state: 'queued', isDryRun: connection.isDryRun })
}

async function insertReconciliation(
  tx: Db,
  service: Service,
  { state, isDryRun }: { state: 'queued' | 'running'; isDryRun: boolean },
): Promise<string> {
  const id = randomUUIDv7()
  await tx.run(sql`
    insert into ecommerce_reconciliation (service_id, connection_id, reconciliation_id, state, is_dry_run) values (${insertedKeys(service)}, ${id}, ${state}, ${isDryRun})`)
  return id
}

/** Begins the queued reconciliation, or a new one. Deletes old ones and what an interrupted one has left. Returns its ID. */
export async function beginReconciliation(tx: Db, service: Service, isDryRun: boolean): Promise<string> {
  await tx.run(
    sql`delete from ecommerce_reconciliation where ${isInMainConnection(service)} and started_at < now() - ${retentionDays} * interval '1 day'`,
  )
  await tx.run(sql`
    update ecommerce_reconciliation set (state, ended_at, error) = ('failed', now(), 'The process has ended.') where ${isInMainConnection(service)} and state = 'running' and not is_partial`)
  await tx.run(sql`delete from ecommerce_observed_level where ${isInMainConnection(service)}`)
  const queued = await tx.row<{ id: string }>(sql`
    update ecommerce_reconciliation set (state, started_at, is_dry_run) = ('running', clock_timestamp(), ${isDryRun})
     where ${isInMainConnection(service)} and state = 'queued' returning reconciliation_id as id`)
  return queued?.id ?? insertReconciliation(tx, service, { state: 'running', isDryRun })
}

interface NewObservedLevel {
  itemId: string
  locationId: string
  onHand: number
  committed: number
  heldBack: number
}

/** Stores a batch of levels that were read. */
export const storeObservedLevels = (db: Db, service: Service, levels: readonly NewObservedLevel[]) =>
  db.run(sql`
    insert into ecommerce_observed_level (service_id, connection_id, item_id, location_id, on_hand, committed, held_back)
    select ${insertedKeys(service)}, * from unnest(${levels.map(({ itemId }) => itemId)}::text[], ${levels.map(({ locationId }) => locationId)}::text[],
      ${levels.map(({ onHand }) => onHand)}::integer[], ${levels.map(({ committed }) => committed)}::integer[], ${levels.map(({ heldBack }) => heldBack)}::integer[])`)

interface Comparison {
  compared: number
  drifted: number
  skipped: number
  added: number
  /** Levels that were skipped. */
  unread: { itemId: string; locationId: string }[]
}

/**
 * Compares what was read with our record. A difference is drift, and the value that was read becomes the known one. Levels in flight, and
 * levels that changed while the platform was read, are skipped. New levels, and levels that must be read, adopt the value without drift.
 * Held levels are not pushed, so they can't drift. `selection`: compares the levels of these items only, with what was read by ID.
 * Stores as `digests`, for each location, the sum of the hashes of all compared quantities: as we knew them, and as they were read.
 * Aliases: `l` is our record of a level, `o` what was read, and `r` the reconciliation.
 */
export async function compareObservedLevels(
  tx: Db,
  service: Service,
  reconciliationId: string,
  selection?: { itemIds: readonly string[]; levels: readonly NewObservedLevel[] },
): Promise<Comparison> {
  const observed = selection
    ? sql`(select ${service.id}::integer as service_id, ${mainConnection} as connection_id, "itemId" as item_id, "locationId" as location_id, "onHand" as on_hand, committed, "heldBack" as held_back
             from json_to_recordset(${JSON.stringify(selection.levels)}) as x ("itemId" text, "locationId" text, "onHand" integer, committed integer, "heldBack" integer))`
    : sql`ecommerce_observed_level`
  const ofSelection = selection ? sql`and l.item_id = any(${selection.itemIds})` : sql``
  // Levels that are read by ID are as they were after the start.
  const margin = selection ? 0 : marginSeconds
  const pairs = sql`
    select l.item_id, l.location_id, l.known_on_hand, o.on_hand, o.committed, o.held_back, l.hold_reason, l.must_read, l.observed_held_back,
           l.idempotency_key is not null or coalesce(l.known_at > r.started_at - ${margin} * interval '1 s', false) as is_recent
      from ecommerce_level l
      join ecommerce_reconciliation r on r.service_id = l.service_id and r.connection_id = l.connection_id and r.reconciliation_id = ${reconciliationId}
      left join ${observed} o on (o.service_id, o.connection_id, o.item_id, o.location_id) = (l.service_id, l.connection_id, l.item_id, l.location_id)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} ${ofSelection}`
  const hash = (onHand: string) =>
    sql`hashtextextended(item_id || ' ' || ${onHand === 'known' ? sql`known_on_hand` : sql`on_hand`}, 0)::numeric`
  const counts = await tx.row<Omit<Comparison, 'added' | 'unread'>>(sql`
    with pairs as (${pairs}),
         drifted as (
           insert into ecommerce_drift (service_id, connection_id, reconciliation_id, item_id, location_id, known_on_hand, observed_on_hand)
           select ${insertedKeys(service)}, ${reconciliationId}, item_id, location_id, known_on_hand, on_hand from pairs
            where not is_recent and not must_read and hold_reason is null and known_on_hand is distinct from on_hand returning 1),
         digested as (
           update ecommerce_reconciliation
              set digests = (select coalesce(jsonb_agg(to_jsonb(d) order by d."locationId"), '[]')
                               from (select location_id as "locationId", coalesce(sum(${hash('known')}), 0)::text as known, coalesce(sum(${hash('observed')}), 0)::text as observed
                                       from pairs where not is_recent and not must_read and hold_reason is null group by 1) d)
            where ${isInMainConnection(service)} and reconciliation_id = ${reconciliationId} returning 1)
    select count(*) filter (where not is_recent)::integer as compared, count(*) filter (where is_recent)::integer as skipped,
           (select count(*) from drifted)::integer as drifted
      from pairs`)
  const unread = await tx.rows<{ itemId: string; locationId: string }>(
    sql`select item_id as "itemId", location_id as "locationId" from (${pairs}) p where is_recent and hold_reason is null order by 1, 2`,
  )
  const added = await adoptObservedLevels(tx, service, pairs, observed)
  if (!selection) await tx.run(sql`delete from ecommerce_observed_level where ${isInMainConnection(service)}`)
  return { compared: 0, drifted: 0, skipped: 0, ...counts, added, unread }
}

/** Stores the quantities of the compared levels, and adds the levels that are new. Returns the number of new levels. */
async function adoptObservedLevels(tx: Db, service: Service, pairs: Sql, observed: Sql): Promise<number> {
  await tx.run(sql`
    update ecommerce_level l
       set known_on_hand = p.on_hand, known_at = case when l.known_on_hand is distinct from p.on_hand then clock_timestamp() else l.known_at end,
           must_read = false, observed_on_hand = p.on_hand, observed_committed = p.committed, observed_held_back = p.held_back, observed_at = clock_timestamp(),
           version = l.version + 1,
           due_at = case when l.known_on_hand is distinct from p.on_hand or l.observed_held_back is distinct from p.held_back then coalesce(l.due_at, clock_timestamp()) else l.due_at end,
           due_rank = case when l.known_on_hand is distinct from p.on_hand or l.observed_held_back is distinct from p.held_back then coalesce(l.due_rank, 1) else l.due_rank end
      from (${pairs}) p
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = p.item_id and l.location_id = p.location_id and not p.is_recent
       and (l.must_read or (l.known_on_hand, l.observed_on_hand, l.observed_committed, l.observed_held_back) is distinct from (p.on_hand, p.on_hand, p.committed, p.held_back))`)
  return tx.run(sql`
    insert into ecommerce_level (service_id, connection_id, item_id, location_id, known_on_hand, known_at, observed_on_hand, observed_committed, observed_held_back, observed_at)
    select service_id, connection_id, item_id, location_id, on_hand, clock_timestamp(), on_hand, committed, held_back, clock_timestamp()
      from ${observed} o where ${isInMainConnection(service)}
     order by item_id, location_id
    on conflict do nothing`)
}

/**
 * Compares the levels of some items, which were read by ID after `startedAt`. A reconciliation is stored only if there is drift. Returns its
 * ID, or undefined.
 */
export async function compareLevelsOfItems(
  tx: Db,
  service: Service,
  startedAt: string,
  selection: { itemIds: readonly string[]; levels: readonly NewObservedLevel[] },
): Promise<string | undefined> {
  const id = randomUUIDv7()
  await tx.run(sql`
    insert into ecommerce_reconciliation (service_id, connection_id, reconciliation_id, state, is_dry_run, is_partial, started_at)
    values (${insertedKeys(service)}, ${id}, 'running', false, true, ${startedAt}::timestamptz)`)
  const { compared, drifted } = await compareObservedLevels(tx, service, id, selection)
  if (drifted) await endReconciliation(tx, service, id, { state: 'completed', counts: { compared, drifted } })
  else
    await tx.run(
      sql`delete from ecommerce_reconciliation where ${isInMainConnection(service)} and reconciliation_id = ${id}`,
    )
  return drifted ? id : undefined
}

/** Returns the drift of a reconciliation whose author isn't known. */
export const listDrift = (db: Db, service: Service, id: string) =>
  db.rows<{ itemId: string; locationId: string }>(sql`
    select item_id as "itemId", location_id as "locationId" from ecommerce_drift
     where ${isInMainConnection(service)} and reconciliation_id = ${id} and changed_by is null order by 1, 2 limit ${maxAuthors}`)

/** Drifted levels of one reconciliation whose authors are read. */
const maxAuthors = 1_000

/** Stores who has changed drifted levels. */
export const storeAuthors = (
  db: Db,
  service: Service,
  id: string,
  authors: readonly { itemId: string; locationId: string; changedBy: string }[],
) =>
  db.run(sql`
    update ecommerce_drift d set changed_by = left(a."changedBy", 250)
      from json_to_recordset(${JSON.stringify(authors)}) as a ("itemId" text, "locationId" text, "changedBy" text)
     where ${isInMainConnection(service)} and reconciliation_id = ${id} and d.item_id = a."itemId" and d.location_id = a."locationId"`)

/** Stores the result of a reconciliation, or the error with which it failed. */
export const endReconciliation = (
  db: Db,
  service: Service,
  id: string,
  {
    state,
    counts = {},
    differences = [],
    error = null,
  }: {
    state: 'completed' | 'failed'
    counts?: Record<string, number>
    differences?: readonly object[]
    error?: string | null
  },
) =>
  db.run(sql`
    update ecommerce_reconciliation
       set (state, ended_at, counts, differences, error) = (${state}, clock_timestamp(), ${JSON.stringify(counts)}::jsonb, ${JSON.stringify(differences)}::jsonb, ${error})
     where ${isInMainConnection(service)} and reconciliation_id = ${id}`)

/** Days for which a dry run permits the first push. */
export const dryRunDays = 7

/** True if a dry run was completed in the last `dryRunDays`. */
export const hasRecentDryRun = async (db: Db, service: Service): Promise<boolean> =>
  (await db.run(sql`
    select from ecommerce_reconciliation
     where ${isInMainConnection(service)} and is_dry_run and state = 'completed' and ended_at > now() - ${dryRunDays} * interval '1 day' limit 1`)) >
  0

const getCount = (name: string) => sql`coalesce((counts->>${name})::integer, 0)`

/** The record (`StockReconciliation`) of a row of `ecommerce_reconciliation`. */
const reconciliationRecord = sql`
  (select row_to_json(r)::text from (select
     reconciliation_id as id, state, is_dry_run as "isDryRun", is_partial as "isPartial", ${rfc3339(sql`started_at`)} as "startedAt", ${rfc3339(sql`ended_at`)} as "endedAt", error,
     ${getCount('compared')} as compared, ${getCount('drifted')} as drifted, ${getCount('rising')} as rising, ${getCount('falling')} as falling,
     ${getCount('fallingToZero')} as "fallingToZero", digests, differences) r)`

/** Returns the record of the newest complete reconciliation. */
export const findNewestReconciliation = (db: Db, service: Service) =>
  db.row<{ record: string }>(
    sql`select ${reconciliationRecord} as record from ecommerce_reconciliation where ${isInMainConnection(service)} and not is_partial order by started_at desc limit 1`,
  )

/** The table with the times of reconciliations, for the lists of this folder: all show the current state. */
export const reconciliationTimes = sql`(select service_id, started_at as changed_at from ecommerce_reconciliation) reconciliation_time`

/** Returns a page of `StockReconciliation`s, newest first. A bulk export returns the oldest first. */
export const readReconciliationPage = (db: Db, service: Service, page: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`ecommerce_reconciliation`,
      timestampSource: reconciliationTimes,
      record: reconciliationRecord,
      order: { column: sql`started_at`, type: 'timestamptz' },
      key: sql`reconciliation_id`,
      live: true,
      descending: !page.asLines,
      where: sql`and connection_id = ${mainConnection}`,
    },
    page,
  )

/** The record (`StockDrift`) of a row of `ecommerce_drift`. */
const driftRecord = sql`
  (select row_to_json(r)::text from (select
     item_id as "itemId", location_id as "locationId",
     (select ecommerce_id from ecommerce_item i
       where i.service_id = ecommerce_drift.service_id and i.connection_id = ecommerce_drift.connection_id and i.inventory_item_id = ecommerce_drift.item_id
       order by item_key limit 1) as sku,
     known_on_hand as "knownOnHand", observed_on_hand as "observedOnHand", changed_by as "changedBy") r)`

/** Returns a page of the `StockDrift` of a reconciliation, by item and location. */
export const readDriftPage = (db: Db, service: Service, reconciliationId: string, page: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`ecommerce_drift`,
      timestampSource: reconciliationTimes,
      record: driftRecord,
      order: { column: sql`item_id`, type: 'text' },
      key: sql`location_id`,
      live: true,
      where: sql`and connection_id = ${mainConnection} and reconciliation_id = ${reconciliationId}`,
    },
    page,
  )

/** True if there is such a reconciliation. */
export const reconciliationExists = async (db: Db, service: Service, id: string): Promise<boolean> =>
  (await db.run(
    sql`select from ecommerce_reconciliation where ${isInMainConnection(service)} and reconciliation_id = ${id}`,
  )) > 0
