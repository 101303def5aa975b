import { type Database, type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals } from '../../domain/values/money.ts'
import { requireCustomers } from '../customers/removal.ts'
import { beginChange, type Change, countUpserted, type Upserted } from '../lists/change-timestamp.ts'
import { type Merged, type MergeTable, upsertMerged } from '../lists/merge.ts'
import { materialized } from '../lists/planner-fences.ts'
import { reservedOfLot } from './reservations.ts'

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
  defaults: { styles: [] },
}
const accounts: MergeTable = {
  name: 'reward_account',
  key: ['id'],
  columns: [
    ...['service_id', 'id', 'customer_id', 'program_id', 'tier_id'],
    ...['tier_locked_until_date', 'join_date', 'qualifying_spend'],
  ],
  defaults: { qualifying_spend: 0 },
}
const lots: MergeTable = {
  name: 'reward_lot',
  key: ['account_id', 'kind', 'lot_id'],
  columns: [
    ...['service_id', 'account_id', 'kind', 'lot_id', 'created_at', 'description'],
    ...['total', 'redeemed', 'pending', 'gift_id', 'expiry_date'],
  ],
  defaults: { redeemed: 0, pending: 0 },
}

/** The columns of a `RewardProgramRow` by table. */
interface ProgramParts {
  program: { programId: string } & Record<string, unknown>
  tier: Record<string, unknown>
}

/**
 * Locks accounts in key order before they or their lots change: otherwise concurrent earnings would be lost. `where` must begin with
 * `and`.
 */
export const lockRewardAccounts = (tx: Db, service: Service, where: Sql) =>
  tx.run(sql`select from reward_account where service_id = ${service.id} ${where} order by id for no key update`)

/** Sets the change timestamp of accounts that show a change. `where` must begin with `and`. */
async function touchAccounts(tx: Db, service: Service, change: Change, where: Sql) {
  await lockRewardAccounts(tx, service, where)
  await tx.run(sql`update reward_account set changed_at = ${change.at} where service_id = ${service.id} ${where}`)
}

/** Merges rows, one per tier, into the programs, and marks the accounts that show them as changed. Returns counts of tiers. */
export function upsertPrograms(db: Database, service: Service, rows: readonly ProgramParts[]): Promise<Upserted> {
  return db.transaction(async tx => {
    const change = await beginChange(tx, service, ['reward_account'])
    const uniquePrograms = [...new Map(rows.map(({ program }) => [program.programId, program])).values()]
    const renamed = await tx.rows<Merged<'program_id'>>(upsertMerged(service, programs, uniquePrograms))
    const written = await tx.rows<Merged<'program_id' | 'tier_id'>>(
      upsertMerged(
        service,
        tiers,
        rows.map(row => row.tier),
      ),
    )
    const ids = [...renamed, ...written].map(row => row.program_id)
    if (ids.length) await touchAccounts(tx, service, change, sql`and program_id = any(${ids})`)
    const counts = countUpserted(written)
    // A row that changes only its program counts too.
    const programOnly = renamed.filter(({ program_id }) => !written.some(tier => tier.program_id === program_id)).length
    return { ...counts, changed: counts.changed + programOnly }
  })
}

/** Merges rows (`RewardGiftRow`, with an array of styles) into the gifts, and marks the accounts that show them as changed. */
export const upsertGifts = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['reward_account'])
    const written = await tx.rows<Merged<'program_id' | 'gift_id'>>(upsertMerged(service, gifts, rows))
    const ids = written.map(row => row.program_id)
    if (ids.length) await touchAccounts(tx, service, change, sql`and program_id = any(${ids})`)
    return countUpserted(written)
  })

/** Merges rows (`RewardAccountRow`) into the reward accounts. */
export const upsertRewardAccounts = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    await lockRewardAccounts(tx, service, sql`and id = any(${rows.map(row => (row as { id?: string }).id)})`)
    const change = await beginChange(tx, service, ['reward_account'])
    const written = await tx.rows<Merged<'id'>>(upsertMerged(service, accounts, rows, change))
    const customers = rows.flatMap(row => (row as { customerId?: string }).customerId ?? [])
    await requireCustomers(tx, service, customers, 'reward_account_customer')
    return countUpserted(written)
  })

/** Returns the reward accounts of these customers. */
export const findRewardAccounts = (db: Db, service: Service, customerIds: readonly string[]) =>
  db.rows<{ id: string }>(
    sql`select id from reward_account where service_id = ${service.id} and customer_id = any(${customerIds})`,
  )

/** Merges rows (`RewardLotRow`) into the lots, and marks their accounts as changed. */
export const upsertRewardLots = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await lockAccounts(tx, service, rows as readonly AccountRow[])
    const written = await mergeLots(tx, service, rows)
    await touchAccounts(tx, service, change, isAccount(written.map(row => row.account_id)))
    return countUpserted(written)
  })

interface AccountRow {
  accountId?: string
}

/** All open lots of an account. */
interface LotsOfAccount {
  accountId: string
  lots: readonly object[]
}

/** Replaces all lots of these accounts. Lots that are missing have ended and are deleted. Returns counts of accounts. */
export const replaceRewardLots = (
  db: Database,
  service: Service,
  lotsByAccount: readonly LotsOfAccount[],
): Promise<Upserted> =>
  db.transaction(async tx => {
    const change = await lockAccounts(tx, service, lotsByAccount)
    const ended = await tx.rows<{ account_id: string; was_shown: boolean }>(sql`
      delete from reward_lot l using json_to_recordset(${JSON.stringify(lotsByAccount)}) as a ("accountId" text, lots json)
       where l.service_id = ${service.id} and l.account_id = a."accountId"
         and not exists (select from json_to_recordset(a.lots) as k (kind text, "lotId" text) where k.kind = l.kind and k."lotId" = l.lot_id)
      returning l.account_id, ${isOpen(service)} as was_shown`)
    const allLots = lotsByAccount.flatMap(account => account.lots)
    const written = allLots.length ? await mergeLots(tx, service, allLots) : []
    const changed = new Set([...ended.filter(({ was_shown }) => was_shown), ...written].map(row => row.account_id))
    await touchAccounts(tx, service, change, isAccount([...changed]))
    return { inserted: 0, changed: changed.size }
  })

const isAccount = (ids: readonly unknown[]) => sql`and id = any(${ids})`

async function lockAccounts(tx: Db, service: Service, rows: readonly AccountRow[]): Promise<Change> {
  await lockRewardAccounts(tx, service, isAccount(rows.map(({ accountId }) => accountId)))
  return beginChange(tx, service, ['reward_account'])
}

const mergeLots = (tx: Db, service: Service, rows: readonly object[]) =>
  tx.rows<Merged<'account_id' | 'kind' | 'lot_id'>>(upsertMerged(service, lots, rows))

/** Returns all programs as a JSON array (`RewardProgram[]`). */
export async function listRewardPrograms(db: Db, service: Service): Promise<string> {
  const money = createMoneyFormat(service)
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

/** Returns the JSON of a reward account (`RewardAccount`). */
export const findRewardAccount = (db: Db, service: Service, key: { id: string } | { customerId: string }) =>
  db.row<{ record: string }>(
    rewardAccountJson(service, 'id' in key ? sql`id = ${key.id}` : sql`customer_id = ${key.customerId}`),
  )

/**
 * Selects the JSON of the reward account (`RewardAccount`) that meets the condition. Lists lots that have not expired by the date in the
 * service's time zone. Each balance is the sum of what is left of the listed lots, so the two always agree.
 * Aliases: `a` is the account, `lot` its open lots, `b` its balances, `p` its program, `t` its tier, and `next` the next tier. `net` has the
 * points less those that the account owes.
 */
export function rewardAccountJson(service: Service, condition: Sql) {
  const money = createMoneyFormat(service)
  return sql`
    with a as ${materialized(sql`
      select * from reward_account where service_id = ${service.id} and ${condition}`)}, lot as ${materialized(sql`
      select l.*, l.redeemed + l.consumed as used, l.pending + reserved as unavailable, l.total - l.redeemed - l.consumed - l.pending - reserved as available
        from reward_lot l join a on l.service_id = a.service_id and l.account_id = a.id cross join lateral (select ${reservedOfLot(sql`l`)} as reserved) r
       where ${isOpen(service)}`)}, balance as ${materialized(sql`
      select coalesce(sum(available) filter (where kind = 'points'), 0)::bigint as points, coalesce(sum(available) filter (where kind = 'reward'), 0) as rewards from lot`)}
    select row_to_json(r)::text as record from (select
      a.id, a.customer_id as "customerId", a.program_id as "programId", p.name as "programName", a.tier_id as "tierId", t.name as "tierName",
      a.tier_locked_until_date as "tierLockedUntilDate", a.join_date as "joinDate", ${service.settings.currency}::text as currency,
      b.points as "availablePoints", ${money('b.rewards')} as "availableRewards",
      case when t.auto_reward_value > 0 then t.auto_reward_point_threshold - least(net.points, mod(net.points, t.auto_reward_point_threshold)) end as "pointsToNextReward",
      case when next.tier_id is not null then ${money('greatest(0, next.qualify_spend - a.qualifying_spend)')} end as "spendToNextTier", next.tier_id as "nextTierId",
      ${selectList(sql`select lot_id as id, to_char(created_at, 'YYYY-MM-DD HH24:MI:SS') as "createdAt", description, total::bigint, used::bigint as redeemed, unavailable::bigint as pending, available::bigint, expiry_date as "expiryDate" from lot where kind = 'points'`)} as points,
      ${selectList(sql`select lot_id as id, to_char(created_at, 'YYYY-MM-DD HH24:MI:SS') as "createdAt", description, ${money('total')} as total, ${money('used')} as redeemed, ${money('unavailable')} as pending, ${money('available')} as available, expiry_date as "expiryDate" from lot where kind = 'reward'`)} as rewards,
      ${selectList(sql`select lot_id as id, lot.gift_id as "giftId", coalesce(g.name, lot.description) as name, available > 0 as available, expiry_date as "expiryDate"
                   from lot left join reward_gift g on g.service_id = a.service_id and g.program_id = a.program_id and g.gift_id = lot.gift_id where kind = 'gift'`)} as gifts
      from a cross join balance b cross join lateral (select b.points - a.points_owed as points) net
      join reward_program p on p.service_id = a.service_id and p.program_id = a.program_id
      left join reward_tier t on t.service_id = a.service_id and t.program_id = a.program_id and t.tier_id = a.tier_id
      left join lateral (select n.tier_id, n.qualify_spend from reward_tier n where n.service_id = a.service_id and n.program_id = a.program_id
                          and n.qualify_spend is not null and (t.sequence is null or n.sequence > t.sequence) order by n.sequence limit 1) next on true) r`
}

/** True if a lot has not expired, by the date in the service's time zone. */
const isOpen = (service: Service) =>
  sql`(l.expiry_date is null or l.expiry_date >= (now() at time zone ${service.settings.timeZone})::date)`

const selectList = (select: Sql) =>
  sql`(select coalesce('[' || string_agg(row_to_json(l)::text, ',' order by l."expiryDate", l.id) || ']', '[]')::json from (${select}) l)`

/** An amount with the currency's decimals. */
const createMoneyFormat = (service: Service) => {
  const decimals = raw(String(getDecimals(service.settings.currency)))
  return (column: string) => sql`round(${raw(column)}, ${decimals})::text`
}
