import { randomUUID } from 'node:crypto'
import { type Db, type Sql, sql, sendWithCommit } from '../../database/db.ts'
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
import { formatAmount as amountText, parseAmount } from '../../domain/values/money.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'

/** What a customer has bought. */
interface Earned {
  orderNumber: string
  /** What it cost, text with the currency's decimals. */
  amount: string
}

/** What of it came back. */
interface Returned extends Earned {
  returnNumber: string
}

/** Gives a customer what an order earns, in the order's transaction; nothing where there is no reward account. */
export async function earnRewards(
  tx: Db,
  service: Service,
  account: HeldRewardAccount | undefined,
  { orderNumber, amount }: Earned,
): Promise<void> {
  const spent = unitsOf(amount)
  if (!account || spent <= 0n) return
  const standing = await standingOf(tx, service, account)
  write(tx, service, account, computeEarning(standing, { orderNumber, amount: spent }, randomUUID), { orderNumber })
}

/**
 * Takes back what the returned part of an order has earned, in the return's transaction: nothing where there is no reward account,
 * or where the order has earned none. `amount` is what this return gives back, not all returns together.
 */
export async function reverseRewards(
  tx: Db,
  service: Service,
  account: HeldRewardAccount | undefined,
  { orderNumber, returnNumber, amount }: Returned,
): Promise<void> {
  const returned = unitsOf(amount)
  if (!account || returned <= 0n) return
  const [order, standing, unusedRewards] = await Promise.all([
    earningsOf(tx, service, account, orderNumber),
    standingOf(tx, service, account, orderNumber),
    unusedRewardsOf(tx, service, account),
  ])
  const move = computeReversal({ ...standing, unusedRewards }, order, { returnNumber, amount: returned }, randomUUID)
  if (move) write(tx, service, account, move, { orderNumber, returnNumber })
}

/** Undoes what `reverseRewards` did for a return, once: for a return that is cancelled, in the transaction that cancels it. */
export async function restoreRewards(
  tx: Db,
  service: Service,
  account: HeldRewardAccount | undefined,
  { orderNumber, returnNumber }: Omit<Returned, 'amount'>,
): Promise<void> {
  if (!account) return
  const back = await earningsOf(tx, service, account, orderNumber, returnNumber)
  const { pointsBack: points, spendBack: spend, notTaken } = back
  if (spend <= 0n) return
  const standing = await standingOf(tx, service, account)
  const last = await tx.row<{ expiryDate: string | null }>(sql`
    select l.expiry_date::text as "expiryDate" from reward_entry e join reward_lot l using (service_id, account_id, lot_id)
     where service_id = ${service.id} and account_id = ${account.id} and e.order_number = ${orderNumber} and e.kind = 'earn' and l.kind = 'points'
     order by l.expiry_date desc nulls first limit 1`)
  const taken = { returnNumber, points, spend, notTaken, expiryDate: last?.expiryDate ?? null }
  write(tx, service, account, computeRestore(standing, taken, randomUUID), { orderNumber, returnNumber })
}

/** The decimals of the tables, whatever the currency's are. */
const decimals = 4

function unitsOf(text: string): bigint {
  const units = parseAmount(text, decimals)
  if (units === undefined) throw new Error('an amount is text with the decimals of its currency')
  return units
}

const unitsOrNull = (text: string | null) => (text === null ? null : unitsOf(text))

/** A reward account that is held: whoever moves its points next waits until this transaction ends, and sees what it did. */
export interface HeldRewardAccount {
  id: string
  programId: string
  tierId: string | null
  tierLockedUntilDate: string | null
  qualifyingSpend: string
  pointsOwed: string
  today: string
  now: string
}

/** Holds the account of a customer, if there is one; of nobody, where they were erased, there is none. */
export const holdRewardAccount = (tx: Db, service: Service, customerId: string | null) =>
  tx.row<HeldRewardAccount>(sql`
    select id, program_id as "programId", tier_id as "tierId", tier_locked_until_date::text as "tierLockedUntilDate", qualifying_spend::text as "qualifyingSpend",
           points_owed::text as "pointsOwed", here::date::text as today, date_trunc('second', here)::text as now
      from reward_account, (select now() at time zone ${service.settings.timeZone} as here) clock
     where service_id = ${service.id} and customer_id = ${customerId}
       for no key update of reward_account`)

/** All that decides a move: the tiers, and the lots of points that are open, or were earned with an order. */
async function standingOf(
  tx: Db,
  service: Service,
  account: HeldRewardAccount,
  orderNumber?: string,
): Promise<RewardState> {
  const ofOrder =
    orderNumber === undefined
      ? sql``
      : sql`or lot_id in (select lot_id from reward_entry e
                           where e.service_id = ${service.id} and e.account_id = ${account.id} and e.order_number = ${orderNumber} and ${fillsLot})`
  const [lots, tiers] = await Promise.all([
    tx.rows<Omit<Lot, 'left'> & { left: string }>(sql`
      select lot_id as id, ${left}::text as left, ${lotDates} from reward_lot
       where service_id = ${service.id} and account_id = ${account.id} and kind = 'points' and ${left} > 0
         and (expiry_date is null or expiry_date >= ${account.today} ${ofOrder})
       order by lot_id for update`),
    tiersOf(tx, service, account),
  ])
  return {
    ...account,
    tiers,
    qualifyingSpend: unitsOf(account.qualifyingSpend),
    pointsOwed: BigInt(account.pointsOwed),
    points: lots.map(lot => ({ ...lot, left: BigInt(lot.left) })),
  }
}

/** Of an entry: whether its order has filled a lot with it. */
const fillsLot = sql`kind in ('earn', 'cancel') and lot_id is not null`
const left = sql`floor(total - redeemed - consumed - pending)`
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

async function tiersOf(tx: Db, service: Service, { programId }: HeldRewardAccount): Promise<TierRules[]> {
  const span = (months: Sql, days: Sql) => sql`json_build_object('months', ${months}, 'days', ${days})`
  const rows = await tx.rows<TierRow>(sql`
    select tier_id as id, sequence, accrual_spend::text as "accrualSpend", accrual_points as "accrualPoints",
           auto_reward_point_threshold as "autoRewardPointThreshold", auto_reward_value::text as "autoRewardValue", qualify_spend::text as "qualifySpend",
           ${span(sql`qualify_months`, sql`qualify_days`)} as "qualifyPeriod", ${span(sql`points_expiry_months`, sql`points_expiry_days`)} as "pointsExpiry",
           ${span(sql`reward_expiry_months`, sql`reward_expiry_days`)} as "rewardExpiry"
      from reward_tier where service_id = ${service.id} and program_id = ${programId} order by sequence, tier_id`)
  return rows.map(row => ({
    ...row,
    accrualSpend: unitsOrNull(row.accrualSpend),
    accrualPoints: row.accrualPoints === null ? null : BigInt(row.accrualPoints),
    autoRewardPointThreshold: row.autoRewardPointThreshold === null ? null : BigInt(row.autoRewardPointThreshold),
    autoRewardValue: unitsOrNull(row.autoRewardValue),
    qualifySpend: unitsOrNull(row.qualifySpend),
  }))
}

/** What an order has earned, and what of it came back before, or came back with one return and was not given again. */
async function earningsOf(
  tx: Db,
  service: Service,
  account: HeldRewardAccount,
  orderNumber: string,
  returnNumber?: string,
): Promise<OrderEarnings & { notTaken: bigint }> {
  const backWith = returnNumber === undefined ? sql`` : sql`and return_number = ${returnNumber}`
  const row = await tx.row<Record<keyof Omit<OrderEarnings, 'lots'> | 'notTaken', string> & { lots: string[] }>(sql`
    select coalesce(sum(amount) filter (where kind = 'earn'), 0)::bigint::text as points, coalesce(sum(spend) filter (where kind = 'earn'), 0)::text as spend,
           coalesce(-sum(amount) filter (where (kind in ('owe', 'cancel') or kind = 'reverse' and lot_kind = 'points') ${backWith}), 0)::bigint::text as "pointsBack",
           coalesce(-sum(spend) filter (where kind in ('return', 'cancel') ${backWith}), 0)::text as "spendBack",
           coalesce(sum(unrecovered_spend) filter (where kind in ('return', 'cancel') ${backWith}), 0)::text as "notTaken",
           coalesce(array_agg(lot_id) filter (where ${fillsLot}), '{}') as lots
      from reward_entry where service_id = ${service.id} and account_id = ${account.id} and order_number = ${orderNumber}`)
  if (!row) throw new Error('an aggregate answers one row')
  return {
    points: BigInt(row.points),
    spend: unitsOf(row.spend),
    pointsBack: BigInt(row.pointsBack),
    spendBack: unitsOf(row.spendBack),
    notTaken: unitsOf(row.notTaken),
    lots: row.lots,
  }
}

/** Rewards made of points here that are open and untouched. */
async function unusedRewardsOf(tx: Db, service: Service, account: HeldRewardAccount): Promise<UnusedReward[]> {
  const rows = await tx.rows<Omit<UnusedReward, 'left' | 'points'> & { left: string; points: string }>(sql`
    select lot_id as id, total::text as left, ${lotDates}, made.points::bigint::text as points
      from reward_lot cross join lateral (
        select -sum(amount) as points from reward_entry e
         where e.service_id = reward_lot.service_id and e.account_id = reward_lot.account_id and e.into_lot_id = reward_lot.lot_id) made
     where service_id = ${service.id} and account_id = ${account.id} and kind = 'reward' and redeemed + consumed + pending = 0
       and (expiry_date is null or expiry_date >= ${account.today}) and made.points > 0
     order by lot_id for update of reward_lot`)
  return rows.map(row => ({ ...row, left: unitsOf(row.left), points: BigInt(row.points) }))
}

/** Writes a move with the commit: its lots, then the entries that fill and empty them (a trigger), then where the account stands. */
function write(
  tx: Db,
  service: Service,
  account: HeldRewardAccount,
  { lots, entries, tierStatus: place, qualifyingSpend }: RewardMovement,
  { orderNumber, returnNumber }: { orderNumber: string; returnNumber?: string },
) {
  if (lots.length)
    sendWithCommit(
      tx.run(sql`
        insert into reward_lot (service_id, account_id, kind, lot_id, created_at, description, total, expiry_date)
        select ${service.id}, ${account.id}, kind, id, ${account.now}, description, 0, "expiryDate"
          from json_to_recordset(${JSON.stringify(lots)}) as l (kind text, id text, description text, "expiryDate" date)`),
    )
  sendWithCommit(
    tx.run(sql`
      insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, into_lot_id, amount, spend, unrecovered_spend, order_number, return_number)
      select ${service.id}, ${account.id}, kind, "lotKind", "lotId", "into", amount, spend, "notTaken", ${orderNumber}, ${returnNumber ?? null}
        from json_to_recordset(${JSON.stringify(entries.map(textOf))}) as e (kind text, "lotKind" text, "lotId" text, "into" text, amount numeric, spend numeric, "notTaken" numeric)`),
    tx.run(sql`
      update reward_account set changed_at = ${nextChangeTimestamp(service, ['reward_account'])}, tier_id = ${place.tierId}, tier_locked_until_date = ${place.tierLockedUntilDate}, qualifying_spend = ${amountText(qualifyingSpend, decimals)}
       where service_id = ${service.id} and id = ${account.id}`),
  )
}

const textOf = ({ kind, lot, into, amount, spend = 0n, notTaken = 0n }: Entry) => ({
  kind,
  lotKind: lot?.kind,
  lotId: lot?.id,
  into,
  amount: lot?.kind === 'reward' ? amountText(amount, decimals) : String(amount),
  spend: amountText(spend, decimals),
  notTaken: amountText(notTaken, decimals),
})
