import { randomUUID } from 'node:crypto'
import { awaitAtCommit, type Db, type Sql, sql } from '../../database/db.ts'
import {
  computeEarning,
  computeRestore,
  computeReversal,
  type Entry,
  type RewardMovement,
  type RewardState,
} from '../../domain/rewards/movements.ts'
import type { Lot, OrderEarnings, Span, TierRules, UnusedReward } from '../../domain/rewards/rules.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount, parseAmount } from '../../domain/values/money.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { reservedOfLot } from './reservations.ts'

interface Purchase {
  orderNumber: string
  /** The price, as a decimal string in the currency. */
  amount: string
}

interface ReturnedPurchase extends Purchase {
  returnNumber: string
}

/** Credits the rewards of an order, in the order's transaction. Does nothing without a reward account. */
export async function earnRewards(
  tx: Db,
  service: Service,
  account: LockedRewardAccount | undefined,
  { orderNumber, amount }: Purchase,
): Promise<void> {
  const spent = toUnits(amount)
  if (!account || spent <= 0n) return
  const state = await readRewardState(tx, service, account)
  writeMove(tx, service, account, computeEarning(state, { orderNumber, amount: spent }, randomUUID), { orderNumber })
}

/**
 * Debits the rewards of the returned part of an order, in the return's transaction. Does nothing without a reward account, or if the order
 * earned nothing. `amount`: the value of this return only.
 */
export async function reverseRewards(
  tx: Db,
  service: Service,
  account: LockedRewardAccount | undefined,
  { orderNumber, returnNumber, amount }: ReturnedPurchase,
): Promise<void> {
  const returned = toUnits(amount)
  if (!account || returned <= 0n) return
  const [order, state, unusedRewards] = await Promise.all([
    readEarnings(tx, service, account, orderNumber),
    readRewardState(tx, service, account, orderNumber),
    readUnusedRewards(tx, service, account),
  ])
  const move = computeReversal({ ...state, unusedRewards }, order, { returnNumber, amount: returned }, randomUUID)
  if (move) writeMove(tx, service, account, move, { orderNumber, returnNumber })
}

/** Undoes `reverseRewards` for a cancelled return, in the transaction that cancels it. Must be called only once. */
export async function restoreRewards(
  tx: Db,
  service: Service,
  account: LockedRewardAccount | undefined,
  { orderNumber, returnNumber }: Omit<ReturnedPurchase, 'amount'>,
): Promise<void> {
  if (!account) return
  const earnings = await readEarnings(tx, service, account, orderNumber, returnNumber)
  const { reversedPoints: points, reversedSpend: spend, unrecoveredSpend } = earnings
  if (spend <= 0n) return
  const state = await readRewardState(tx, service, account)
  const last = await tx.row<{ expiryDate: string | null }>(sql`
    select l.expiry_date::text as "expiryDate" from reward_entry e join reward_lot l using (service_id, account_id, lot_id)
     where service_id = ${service.id} and account_id = ${account.id} and e.order_number = ${orderNumber} and e.kind = 'earn' and l.kind = 'points'
     order by l.expiry_date desc nulls first limit 1`)
  const reversed = { returnNumber, points, spend, unrecoveredSpend, expiryDate: last?.expiryDate ?? null }
  writeMove(tx, service, account, computeRestore(state, reversed, randomUUID), { orderNumber, returnNumber })
}

/** The scale of the amount columns, whatever the currency. */
const decimals = 4

function toUnits(text: string): bigint {
  const units = parseAmount(text, decimals)
  if (units === undefined) throw new Error(`invalid amount: ${text}`)
  return units
}

const toUnitsOrNull = (text: string | null) => (text === null ? null : toUnits(text))

/** A locked reward account: a concurrent movement waits until this transaction ends, and sees its result. */
export interface LockedRewardAccount {
  id: string
  programId: string
  tierId: string | null
  tierLockedUntilDate: string | null
  qualifyingSpend: string
  pointsOwed: string
  today: string
  now: string
}

/** Locks the reward account of a customer. Returns undefined if there is no account, or the customer was erased. */
export const lockRewardAccount = (tx: Db, service: Service, customerId: string | null) =>
  lockAccount(tx, service, sql`customer_id = ${customerId}`)

/** Locks a reward account by its ID. Returns undefined if it doesn't exist. */
export const lockRewardAccountById = (tx: Db, service: Service, id: string) => lockAccount(tx, service, sql`id = ${id}`)

const lockAccount = (tx: Db, service: Service, condition: Sql) =>
  tx.row<LockedRewardAccount>(sql`
    select id, program_id as "programId", tier_id as "tierId", tier_locked_until_date::text as "tierLockedUntilDate", qualifying_spend::text as "qualifyingSpend",
           points_owed::text as "pointsOwed", here::date::text as today, date_trunc('second', here)::text as now
      from reward_account, (select now() at time zone ${service.settings.timeZone} as here) clock
     where service_id = ${service.id} and ${condition}
       for no key update of reward_account`)

/** Reads everything that a movement depends on: the tiers, and the point lots that are open or were earned with the order. */
async function readRewardState(
  tx: Db,
  service: Service,
  account: LockedRewardAccount,
  orderNumber?: string,
): Promise<RewardState> {
  const ofOrder =
    orderNumber === undefined
      ? sql``
      : sql`or lot_id in (select lot_id from reward_entry e
                           where e.service_id = ${service.id} and e.account_id = ${account.id} and e.order_number = ${orderNumber} and ${fillsLot})`
  const [lots, tiers] = await Promise.all([
    tx.rows<Omit<Lot, 'remaining'> & { remaining: string }>(sql`
      select lot_id as id, ${remaining}::text as remaining, ${lotDates} from reward_lot
       where service_id = ${service.id} and account_id = ${account.id} and kind = 'points' and ${remaining} > 0
         and (expiry_date is null or expiry_date >= ${account.today} ${ofOrder})
       order by lot_id for update`),
    readTiers(tx, service, account),
  ])
  return {
    ...account,
    tiers,
    qualifyingSpend: toUnits(account.qualifyingSpend),
    pointsOwed: BigInt(account.pointsOwed),
    points: lots.map(lot => ({ ...lot, remaining: BigInt(lot.remaining) })),
  }
}

/** True for an entry with which an order has filled a lot. */
const fillsLot = sql`kind in ('earn', 'cancel') and lot_id is not null`
const remaining = sql`floor(total - redeemed - consumed - pending - ${reservedOfLot(sql`reward_lot`)})`
const lotDates = sql`created_at::text as "createdAt", expiry_date::text as "expiryDate"`

interface TierRow extends Record<'qualifyPeriod' | 'pointsExpiry' | 'rewardExpiry', Span> {
  id: string
  sequence: number
  accrualSpend: string | null
  accrualPoints: number | null
  autoRewardPointThreshold: number | null
  autoRewardValue: string | null
  qualifySpend: string | null
}

async function readTiers(tx: Db, service: Service, { programId }: LockedRewardAccount): Promise<TierRules[]> {
  const span = (months: Sql, days: Sql) => sql`json_build_object('months', ${months}, 'days', ${days})`
  const rows = await tx.rows<TierRow>(sql`
    select tier_id as id, sequence, accrual_spend::text as "accrualSpend", accrual_points as "accrualPoints",
           auto_reward_point_threshold as "autoRewardPointThreshold", auto_reward_value::text as "autoRewardValue", qualify_spend::text as "qualifySpend",
           ${span(sql`qualify_months`, sql`qualify_days`)} as "qualifyPeriod", ${span(sql`points_expiry_months`, sql`points_expiry_days`)} as "pointsExpiry",
           ${span(sql`reward_expiry_months`, sql`reward_expiry_days`)} as "rewardExpiry"
      from reward_tier where service_id = ${service.id} and program_id = ${programId} order by sequence, tier_id`)
  return rows.map(row => ({
    ...row,
    accrualSpend: toUnitsOrNull(row.accrualSpend),
    accrualPoints: row.accrualPoints === null ? null : BigInt(row.accrualPoints),
    autoRewardPointThreshold: row.autoRewardPointThreshold === null ? null : BigInt(row.autoRewardPointThreshold),
    autoRewardValue: toUnitsOrNull(row.autoRewardValue),
    qualifySpend: toUnitsOrNull(row.qualifySpend),
  }))
}

/** Reads the earnings of an order, and what was reversed by all returns, or by one return. */
async function readEarnings(
  tx: Db,
  service: Service,
  account: LockedRewardAccount,
  orderNumber: string,
  returnNumber?: string,
): Promise<OrderEarnings & { unrecoveredSpend: bigint }> {
  const ofReturn = returnNumber === undefined ? sql`` : sql`and return_number = ${returnNumber}`
  const row = await tx.row<
    Record<keyof Omit<OrderEarnings, 'lots'> | 'unrecoveredSpend', string> & { lots: string[] }
  >(sql`
    select coalesce(sum(amount) filter (where kind = 'earn'), 0)::bigint::text as points, coalesce(sum(spend) filter (where kind = 'earn'), 0)::text as spend,
           coalesce(-sum(amount) filter (where (kind in ('owe', 'cancel') or kind = 'reverse' and lot_kind = 'points') ${ofReturn}), 0)::bigint::text as "reversedPoints",
           coalesce(-sum(spend) filter (where kind in ('return', 'cancel') ${ofReturn}), 0)::text as "reversedSpend",
           coalesce(sum(unrecovered_spend) filter (where kind in ('return', 'cancel') ${ofReturn}), 0)::text as "unrecoveredSpend",
           coalesce(array_agg(lot_id) filter (where ${fillsLot}), '{}') as lots
      from reward_entry where service_id = ${service.id} and account_id = ${account.id} and order_number = ${orderNumber}`)
  if (!row) throw new Error('aggregate of reward_entry returned no row')
  return {
    points: BigInt(row.points),
    spend: toUnits(row.spend),
    reversedPoints: BigInt(row.reversedPoints),
    reversedSpend: toUnits(row.reversedSpend),
    unrecoveredSpend: toUnits(row.unrecoveredSpend),
    lots: row.lots,
  }
}

/** Reads the open, untouched rewards that were created from points. */
async function readUnusedRewards(tx: Db, service: Service, account: LockedRewardAccount): Promise<UnusedReward[]> {
  const rows = await tx.rows<Omit<UnusedReward, 'remaining' | 'points'> & { remaining: string; points: string }>(sql`
    select lot_id as id, total::text as remaining, ${lotDates}, created.points::bigint::text as points
      from reward_lot cross join lateral (
        select -sum(amount) as points from reward_entry e
         where e.service_id = reward_lot.service_id and e.account_id = reward_lot.account_id and e.into_lot_id = reward_lot.lot_id) created
     where service_id = ${service.id} and account_id = ${account.id} and kind = 'reward' and redeemed + consumed + pending + ${reservedOfLot(sql`reward_lot`)} = 0
       and (expiry_date is null or expiry_date >= ${account.today}) and created.points > 0
     order by lot_id for update of reward_lot`)
  return rows.map(row => ({ ...row, remaining: toUnits(row.remaining), points: BigInt(row.points) }))
}

/** Writes a movement with the commit: first its lots, then the entries that fill and empty them (by a trigger), then the account. */
function writeMove(
  tx: Db,
  service: Service,
  account: LockedRewardAccount,
  { lots, entries, tierStatus, qualifyingSpend }: RewardMovement,
  { orderNumber, returnNumber }: { orderNumber: string; returnNumber?: string },
) {
  if (lots.length)
    awaitAtCommit(
      tx.run(sql`
        insert into reward_lot (service_id, account_id, kind, lot_id, created_at, description, total, expiry_date)
        select ${service.id}, ${account.id}, kind, id, ${account.now}, description, 0, "expiryDate"
          from json_to_recordset(${JSON.stringify(lots)}) as l (kind text, id text, description text, "expiryDate" date)`),
    )
  awaitAtCommit(
    tx.run(sql`
      insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, into_lot_id, amount, spend, unrecovered_spend, order_number, return_number)
      select ${service.id}, ${account.id}, kind, "lotKind", "lotId", "into", amount, spend, "unrecoveredSpend", ${orderNumber}, ${returnNumber ?? null}
        from json_to_recordset(${JSON.stringify(entries.map(toRow))}) as e (kind text, "lotKind" text, "lotId" text, "into" text, amount numeric, spend numeric, "unrecoveredSpend" numeric)`),
    tx.run(sql`
      update reward_account set changed_at = ${nextChangeTimestamp(service, ['reward_account'])}, tier_id = ${tierStatus.tierId}, tier_locked_until_date = ${tierStatus.tierLockedUntilDate}, qualifying_spend = ${formatAmount(qualifyingSpend, decimals)}
       where service_id = ${service.id} and id = ${account.id}`),
  )
}

const toRow = ({ kind, lot, into, amount, spend = 0n, unrecoveredSpend = 0n }: Entry) => ({
  kind,
  lotKind: lot?.kind,
  lotId: lot?.id,
  into,
  amount: lot?.kind === 'reward' ? formatAmount(amount, decimals) : String(amount),
  spend: formatAmount(spend, decimals),
  unrecoveredSpend: formatAmount(unrecoveredSpend, decimals),
})
