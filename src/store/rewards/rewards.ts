import { type Database, type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals } from '../../domain/values/money.ts'
import { requireCustomers } from '../customers/removal.ts'
import { beginChange, type Change, countUpserted, type Upserted } from '../lists/change-timestamp.ts'
import { type Merged, type MergeTable, upsertMerged } from '../lists/merge.ts'
import { materialized } from '../lists/planner-fences.ts'

const programs: MergeTable = {
  name: 'reward_program',
  key: ['program_id'],
  columns: ['service_id', 'program_id', 'name', 'description'],
}
const tiers: MergeTable = {
  name: 'reward_tier',
  key: ['program_id', 'tier_id'],
  columns: [
    ...['service_id', 'program_id', 'tier_id', 'name', 'sequence', 'accrual_spend', 'accrual_points'],
    ...['auto_reward_point_threshold', 'auto_reward_value', 'qualify_spend', 'qualify_months', 'qualify_days'],
    ...['points_expiry_months', 'points_expiry_days', 'reward_expiry_months', 'reward_expiry_days'],
  ],
}
const gifts: MergeTable = {
  name: 'reward_gift',
  key: ['program_id', 'gift_id'],
  columns: ['service_id', 'program_id', 'gift_id', 'name', 'styles'],
  fresh: { styles: [] },
}
const accounts: MergeTable = {
  name: 'reward_account',
  key: ['id'],
  columns: [
    ...['service_id', 'id', 'customer_id', 'program_id', 'tier_id'],
    ...['tier_locked_until_date', 'join_date', 'qualifying_spend'],
  ],
  fresh: { qualifying_spend: 0 },
}
const lots: MergeTable = {
  name: 'reward_lot',
  key: ['account_id', 'kind', 'lot_id'],
  columns: [
    ...['service_id', 'account_id', 'kind', 'lot_id', 'created_at', 'description'],
    ...['total', 'redeemed', 'pending', 'gift_id', 'expiry_date'],
  ],
  fresh: { redeemed: 0, pending: 0 },
}

/** The part of a row (`RewardProgramRow`) that each table holds. */
interface ProgramParts {
  program: { programId: string } & Record<string, unknown>
  tier: Record<string, unknown>
}

/** Holds accounts that are about to change, they or their lots: what an order earns meanwhile would be lost, and no two wait for each other; `where` begins with `and`. */
export const holdRewardAccounts = (tx: Db, service: Service, where: Sql) =>
  tx.run(sql`select from reward_account where service_id = ${service.id} ${where} order by id for no key update`)

/** Stamps accounts that show what has changed; `where` begins with `and`. */
async function stampAccounts(tx: Db, service: Service, change: Change, where: Sql) {
  await holdRewardAccounts(tx, service, where)
  await tx.run(sql`update reward_account set changed_at = ${change.at} where service_id = ${service.id} ${where}`)
}

/** Merges rows, one a tier, into the programmes; the accounts that show them follow. Counts are of tiers. */
export function upsertPrograms(db: Database, service: Service, rows: readonly ProgramParts[]): Promise<Upserted> {
  return db.transaction(async tx => {
    const change = await beginChange(tx, service, ['reward_account'])
    const given = [...new Map(rows.map(({ program }) => [program.programId, program])).values()]
    const renamed = await tx.rows<Merged<'program_id'>>(upsertMerged(service, programs, given))
    const touched = await tx.rows<Merged<'program_id' | 'tier_id'>>(
      upsertMerged(
        service,
        tiers,
        rows.map(row => row.tier),
      ),
    )
    const ids = [...renamed, ...touched].map(row => row.program_id)
    if (ids.length) await stampAccounts(tx, service, change, sql`and program_id = any(${ids})`)
    const counted = countUpserted(touched)
    // A row that only changes its programme has changed something too.
    const silent = renamed.filter(({ program_id }) => !touched.some(tier => tier.program_id === program_id)).length
    return { ...counted, changed: counted.changed + silent }
  })
}

/** Merges rows (`RewardGiftRow`, its styles as an array) into the gifts of the programmes; the accounts that show them follow. */
export const upsertGifts = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['reward_account'])
    const touched = await tx.rows<Merged<'program_id' | 'gift_id'>>(upsertMerged(service, gifts, rows))
    const ids = touched.map(row => row.program_id)
    if (ids.length) await stampAccounts(tx, service, change, sql`and program_id = any(${ids})`)
    return countUpserted(touched)
  })

/** Merges rows (`RewardAccountRow`) into the reward accounts. */
export const upsertRewardAccounts = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    await holdRewardAccounts(tx, service, sql`and id = any(${rows.map(row => (row as { id?: string }).id)})`)
    const change = await beginChange(tx, service, ['reward_account'])
    const touched = await tx.rows<Merged<'id'>>(upsertMerged(service, accounts, rows, change))
    const customers = rows.flatMap(row => (row as { customerId?: string }).customerId ?? [])
    await requireCustomers(tx, service, customers, 'reward_account_customer')
    return countUpserted(touched)
  })

/** Merges rows (`RewardLotRow`) into the lots of points, rewards and gifts; the accounts follow. */
export const upsertRewardLots = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await beginLots(tx, service, rows as readonly OfAccount[])
    const touched = await mergeLots(tx, service, rows)
    await stampAccounts(tx, service, change, ofAccounts(touched.map(row => row.account_id)))
    return countUpserted(touched)
  })

interface OfAccount {
  accountId?: string
}

/** All open lots of an account, as rows. */
interface LotsOfAccount {
  accountId: string
  lots: readonly object[]
}

/** The same of accounts with all their open lots: others that are stored have ended, and go. Counts are of accounts. */
export const replaceRewardLots = (
  db: Database,
  service: Service,
  accounts: readonly LotsOfAccount[],
): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await beginLots(tx, service, accounts)
    const ended = await tx.rows<{ account_id: string; showed: boolean }>(sql`
      delete from reward_lot l using json_to_recordset(${JSON.stringify(accounts)}) as a ("accountId" text, lots json)
       where l.service_id = ${service.id} and l.account_id = a."accountId"
         and not exists (select from json_to_recordset(a.lots) as k (kind text, "lotId" text) where k.kind = l.kind and k."lotId" = l.lot_id)
      returning l.account_id, ${isOpen(service, 'l.expiry_date')} as showed`)
    const lots = accounts.flatMap(account => account.lots)
    const touched = lots.length ? await mergeLots(tx, service, lots) : []
    const changed = new Set([...ended.filter(({ showed }) => showed), ...touched].map(row => row.account_id))
    await stampAccounts(tx, service, change, ofAccounts([...changed]))
    return { inserted: 0, changed: changed.size }
  })

const ofAccounts = (ids: readonly unknown[]) => sql`and id = any(${ids})`

async function beginLots(tx: Db, service: Service, of: readonly OfAccount[]): Promise<Change> {
  await holdRewardAccounts(tx, service, ofAccounts(of.map(({ accountId }) => accountId)))
  return beginChange(tx, service, ['reward_account'])
}

const mergeLots = (tx: Db, service: Service, rows: readonly object[]) =>
  tx.rows<Merged<'account_id' | 'kind' | 'lot_id'>>(upsertMerged(service, lots, rows))

/** All programmes as the JSON text of an array (`RewardProgram[]`). */
export async function rewardPrograms(db: Db, service: Service): Promise<string> {
  const money = moneyOf(service)
  const row = await db.row<{ programs: string }>(sql`
    select coalesce('[' || string_agg(row_to_json(r)::text, ',' order by r.id) || ']', '[]') as programs from (select
      p.program_id as id, p.name, p.description, ${service.settings.currency}::text as currency,
      (select coalesce('[' || string_agg(row_to_json(tiers)::text, ',' order by tiers.sequence) || ']', '[]')::json from (select
         t.tier_id as id, t.name, t.sequence, ${money('t.accrual_spend')} as "accrualSpend", t.accrual_points as "accrualPoints",
         t.auto_reward_point_threshold as "autoRewardPointThreshold", ${money('t.auto_reward_value')} as "autoRewardValue", ${money('t.qualify_spend')} as "qualifySpend",
         (select row_to_json(s) from (select t.qualify_months as months, t.qualify_days as days) s) as "qualifyPeriod",
         (select row_to_json(s) from (select t.points_expiry_months as months, t.points_expiry_days as days) s) as "pointsExpiry",
         (select row_to_json(s) from (select t.reward_expiry_months as months, t.reward_expiry_days as days) s) as "rewardExpiry"
         from reward_tier t where t.service_id = p.service_id and t.program_id = p.program_id) tiers) as tiers,
      (select coalesce('[' || string_agg(row_to_json(gifts)::text, ',' order by gifts.id) || ']', '[]')::json from (select
         g.gift_id as id, g.name, g.styles from reward_gift g where g.service_id = p.service_id and g.program_id = p.program_id) gifts) as gifts
      from reward_program p where p.service_id = ${service.id}) r`)
  return row?.programs ?? '[]'
}

/** A reward account as JSON text (`RewardAccount`). */
export const rewardAccount = (db: Db, service: Service, by: { id: string } | { customerId: string }) =>
  db.row<{ record: string }>(
    rewardAccountJson(service, 'id' in by ? sql`id = ${by.id}` : sql`customer_id = ${by.customerId}`),
  )

/**
 * The statement of the record of one reward account (`RewardAccount`), which `which` names. The lots listed are the unexpired ones, by the day of the service's time zone;
 * each balance is the sum of what they have left, so that the two can never disagree.
 */
export function rewardAccountJson(service: Service, which: Sql) {
  const money = moneyOf(service)
  return sql`
    with a as ${materialized(sql`
      select * from reward_account where service_id = ${service.id} and ${which}`)}, lot as ${materialized(sql`
      select l.*, l.redeemed + l.consumed as used, l.total - l.redeemed - l.consumed - l.pending as available from reward_lot l join a on l.service_id = a.service_id and l.account_id = a.id
       where ${isOpen(service, 'l.expiry_date')}`)}, balance as ${materialized(sql`
      select coalesce(sum(available) filter (where kind = 'points'), 0)::bigint as points, coalesce(sum(available) filter (where kind = 'reward'), 0) as rewards from lot`)}
    select row_to_json(r)::text as record from (select
      a.id, a.customer_id as "customerId", a.program_id as "programId", p.name as "programName", a.tier_id as "tierId", t.name as "tierName",
      a.tier_locked_until_date as "tierLockedUntilDate", a.join_date as "joinDate", ${service.settings.currency}::text as currency,
      b.points as "availablePoints", ${money('b.rewards')} as "availableRewards",
      case when t.auto_reward_value > 0 then t.auto_reward_point_threshold - least(net.points, mod(net.points, t.auto_reward_point_threshold)) end as "pointsToNextReward",
      case when next.tier_id is not null then ${money('greatest(0, next.qualify_spend - a.qualifying_spend)')} end as "spendToNextTier", next.tier_id as "nextTierId",
      ${listOf(sql`select lot_id as id, to_char(created_at, 'YYYY-MM-DD HH24:MI:SS') as "createdAt", description, total::bigint, used::bigint as redeemed, pending::bigint, available::bigint, expiry_date as "expiryDate" from lot where kind = 'points'`)} as points,
      ${listOf(sql`select lot_id as id, to_char(created_at, 'YYYY-MM-DD HH24:MI:SS') as "createdAt", description, ${money('total')} as total, ${money('used')} as redeemed, ${money('pending')} as pending, ${money('available')} as available, expiry_date as "expiryDate" from lot where kind = 'reward'`)} as rewards,
      ${listOf(sql`select lot_id as id, lot.gift_id as "giftId", coalesce(g.name, lot.description) as name, available > 0 as available, expiry_date as "expiryDate"
                   from lot left join reward_gift g on g.service_id = a.service_id and g.program_id = a.program_id and g.gift_id = lot.gift_id where kind = 'gift'`)} as gifts
      from a cross join balance b cross join lateral (select b.points - a.points_owed as points) net
      join reward_program p on p.service_id = a.service_id and p.program_id = a.program_id
      left join reward_tier t on t.service_id = a.service_id and t.program_id = a.program_id and t.tier_id = a.tier_id
      left join lateral (select n.tier_id, n.qualify_spend from reward_tier n where n.service_id = a.service_id and n.program_id = a.program_id
                          and n.qualify_spend is not null and (t.sequence is null or n.sequence > t.sequence) order by n.sequence limit 1) next on true) r`
}

/** Whether a lot has not expired, by the day of the service's time zone. */
const isOpen = (service: Service, expiryDate: string) =>
  sql`(${raw(expiryDate)} is null or ${raw(expiryDate)} >= (now() at time zone ${service.settings.timeZone})::date)`

const listOf = (select: Sql) =>
  sql`(select coalesce('[' || string_agg(row_to_json(l)::text, ',' order by l."expiryDate", l.id) || ']', '[]')::json from (${select}) l)`

/** An amount as text with the currency's decimals. */
const moneyOf = (service: Service) => {
  const decimals = raw(String(getDecimals(service.settings.currency)))
  return (column: string) => sql`round(${raw(column)}, ${decimals})::text`
}
