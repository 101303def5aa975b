import { awaitAtCommit, type Db, sql } from '../../database/db.ts'
import {
  amountDecimals,
  formatUnits,
  type Redemption,
  type RedemptionStatus,
  type RewardRedemption,
} from '../../domain/rewards/redemptions.ts'
import type { Lot } from '../../domain/rewards/rules.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount, parseStoredAmount } from '../../domain/values/money.ts'
import type { OpenRecords } from '../../errors/account-limit.ts'
import { localTime, nextChangeTimestamp } from '../lists/change-timestamp.ts'
import type { LockedRewardAccount } from './ledger.ts'
import { reservedOfLot } from './reservations.ts'
import { lockRewardAccounts } from './rewards.ts'

/** A stored redemption. A pending one past its end is `expired`. */
interface StoredRedemption extends Redemption {
  status: RedemptionStatus
}

const status = sql`case when status = 'pending' and expires_at <= clock_timestamp() then 'expired' else status end`

/** Reads a redemption by its request ID, and locks it until the transaction ends. */
export async function lockRedemption(
  tx: Db,
  service: Service,
  requestId: string,
): Promise<StoredRedemption | undefined> {
  const isRedemption = sql`service_id = ${service.id} and request_id = ${requestId}`
  // A separate statement: the next one reads the clock after the wait.
  const lock = tx.run(sql`select from reward_redemption where ${isRedemption} for update`)
  const read = tx.row<Omit<StoredRedemption, 'amount'> & { amount: string }>(sql`
    select request_id as "requestId", account_id as "accountId", lot_kind as kind, amount::text as amount, ${status} as status
      from reward_redemption where ${isRedemption}`)
  const [, row] = await Promise.all([lock, read])
  return row && { ...row, amount: parseStoredAmount(row.amount, amountDecimals) }
}

const toStoredAmount = (amount: bigint) => formatAmount(amount, amountDecimals)

/** Stores a redemption with the commit. `parts`: the amounts that it reserves from lots, if our tables have the lots. */
export function insertRedemption(
  tx: Db,
  service: Service,
  { requestId, accountId, kind, amount }: Redemption,
  { username, seconds, status: initialStatus }: { username: string; seconds: number; status: 'pending' | 'submitting' },
  parts: readonly { lotId: string; amount: bigint }[] = [],
) {
  awaitAtCommit(
    tx.run(sql`
      insert into reward_redemption (service_id, request_id, account_id, lot_kind, amount, status, username, expires_at)
      values (${service.id}, ${requestId}, ${accountId}, ${kind}, ${toStoredAmount(amount)}, ${initialStatus}, ${username}, clock_timestamp() + make_interval(secs => ${seconds}))`),
  )
  if (!parts.length) return
  const rows = parts.map(part => ({ lotId: part.lotId, amount: toStoredAmount(part.amount) }))
  awaitAtCommit(
    tx.run(sql`
      insert into reward_redemption_part (service_id, account_id, lot_kind, lot_id, request_id, amount)
      select ${service.id}, ${accountId}, ${kind}, "lotId", ${requestId}, amount
        from json_to_recordset(${JSON.stringify(rows)}) as p ("lotId" text, amount numeric)`),
  )
}

/** Sets the status with the commit. An ended redemption reserves nothing. `minSeconds`: it doesn't expire before. */
export function setRedemptionStatus(
  tx: Db,
  service: Service,
  { requestId }: Pick<Redemption, 'requestId'>,
  next: RedemptionStatus,
  minSeconds?: number,
) {
  const expiresAt =
    minSeconds === undefined
      ? sql`expires_at`
      : sql`greatest(expires_at, clock_timestamp() + make_interval(secs => ${minSeconds}))`
  awaitAtCommit(
    tx.run(sql`
      update reward_redemption set status = ${next}, expires_at = ${expiresAt}
       where service_id = ${service.id} and request_id = ${requestId}`),
  )
  if (next !== 'pending') awaitAtCommit(deleteParts(tx, service, [requestId]))
}

const deleteParts = (tx: Db, service: Service, requestIds: readonly string[]) =>
  tx.run(
    sql`delete from reward_redemption_part where service_id = ${service.id} and request_id = any(${requestIds}::uuid[])`,
  )

/** Deletes a redemption that the back office has rejected. */
export const deleteRedemption = (tx: Db, service: Service, { requestId }: Pick<Redemption, 'requestId'>) =>
  tx.run(sql`delete from reward_redemption where service_id = ${service.id} and request_id = ${requestId}`)

/** Debits the lots of a pending redemption with the commit. Returns false if a lot has less left than was reserved. */
export async function debitRedemption(tx: Db, service: Service, redemption: Redemption): Promise<boolean> {
  const { requestId, accountId, amount } = redemption
  const row = await tx.row<{ amount: string | null; isCovered: boolean | null }>(sql`
    select sum(p.amount)::text as amount, bool_and(l.redeemed + l.consumed + l.pending + p.amount <= l.total) as "isCovered"
      from reward_redemption_part p join reward_lot l on l.service_id = p.service_id and l.account_id = p.account_id and l.kind = p.lot_kind and l.lot_id = p.lot_id
     where p.service_id = ${service.id} and p.request_id = ${requestId}`)
  // An import may have changed or removed a lot.
  if (!row?.isCovered || parseStoredAmount(row.amount ?? '0', amountDecimals) !== amount) return false
  awaitAtCommit(
    tx.run(sql`
      insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, amount, request_id)
      select service_id, account_id, 'redeem', lot_kind, lot_id, -amount, request_id
        from reward_redemption_part where service_id = ${service.id} and request_id = ${requestId} and account_id = ${accountId}`),
  )
  return true
}

/**
 * Takes points that accounts owe from their open lots, earliest expiry first, because these redemptions have just ended and reserve nothing
 * any more. Call with the lock of the accounts. `earlier` is the sum of the lots that expire before a lot.
 */
export const settleOwedPoints = (tx: Db, service: Service, requestIds: readonly string[]) =>
  tx.run(sql`
    with account as (
      select a.id, a.points_owed, min(r.request_id::text)::uuid as request_id
        from reward_redemption r join reward_account a on a.service_id = r.service_id and a.id = r.account_id
       where r.service_id = ${service.id} and r.request_id = any(${requestIds}::uuid[]) and r.lot_kind = 'points' and a.points_owed > 0
       group by a.id, a.points_owed),
    lot as (
      select a.*, l.lot_id, l.remaining, sum(l.remaining) over (partition by a.id order by l.expiry_date nulls last, l.created_at, l.lot_id) - l.remaining as earlier
        from account a cross join lateral (
          select lot_id, expiry_date, created_at, floor(total - redeemed - consumed - pending - ${reservedOfLot(sql`reward_lot`)}) as remaining
            from reward_lot
           where service_id = ${service.id} and account_id = a.id and kind = 'points' and redeemed + consumed + pending < total
             and (expiry_date is null or expiry_date >= (now() at time zone ${service.settings.timeZone})::date)) l)
    insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, amount, request_id)
    select ${service.id}, id, 'settle', 'points', lot_id, -least(remaining, points_owed - earlier), request_id
      from lot where remaining > 0 and earlier < points_owed`)

/** Reads what is left of an account's open lots of one kind, less what pending redemptions reserve. Call after locking the account. */
export async function readOpenLots(
  tx: Db,
  service: Service,
  account: Pick<LockedRewardAccount, 'id' | 'today'>,
  kind: Redemption['kind'],
): Promise<Lot[]> {
  const rows = await tx.rows<Omit<Lot, 'remaining'> & { remaining: string }>(sql`
    select lot_id as id, (total - redeemed - consumed - pending - ${reservedOfLot(sql`reward_lot`)})::text as remaining,
           created_at::text as "createdAt", expiry_date::text as "expiryDate"
      from reward_lot
     where service_id = ${service.id} and account_id = ${account.id} and kind = ${kind} and redeemed + consumed + pending < total
       and (expiry_date is null or expiry_date >= ${account.today})
     order by lot_id`)
  return rows.map(row => ({ ...row, remaining: parseStoredAmount(row.remaining, amountDecimals) }))
}

/** Publishes an account with the commit, because its balance has changed. */
export const touchRewardAccount = (tx: Db, service: Service, id: string) =>
  awaitAtCommit(
    tx.run(sql`
      update reward_account set changed_at = ${nextChangeTimestamp(service, ['reward_account'])}
       where service_id = ${service.id} and id = ${id}`),
  )

/** Returns a redemption of an account, or undefined if it doesn't exist. */
export async function findRedemption(
  db: Db,
  service: Service,
  { accountId, requestId }: Pick<Redemption, 'accountId' | 'requestId'>,
): Promise<RewardRedemption | undefined> {
  const { currency } = service.settings
  const row = await db.row<
    Omit<RewardRedemption, 'points' | 'amount' | 'currency'> & { kind: Redemption['kind']; value: string }
  >(sql`
    select request_id as "requestId", account_id as "accountId",
           case when status in ('submitting', 'confirming', 'cancelling') then 'unknown' else ${status} end as status,
           lot_kind as kind, amount::text as value, ${localTime(sql`created_at`, service)} as "createdAt", ${localTime(sql`expires_at`, service)} as "expiresAt"
      from reward_redemption where service_id = ${service.id} and request_id = ${requestId} and account_id = ${accountId}`)
  if (!row) return
  const { kind, value, createdAt, expiresAt, ...ids } = row
  const text = formatUnits(kind, parseStoredAmount(value, amountDecimals), currency)
  return {
    ...ids,
    points: kind === 'points' ? Number(text) : null,
    amount: kind === 'reward' ? text : null,
    currency,
    createdAt,
    expiresAt,
  }
}

/** Returns a redemption. Throws if it doesn't exist. */
export async function readRedemption(
  tx: Db,
  service: Service,
  key: Pick<Redemption, 'accountId' | 'requestId'>,
): Promise<RewardRedemption> {
  const redemption = await findRedemption(tx, service, key)
  if (!redemption) throw new Error('stored redemption not found')
  return redemption
}

/** Returns the name of the lock that serialises all calls about a redemption. */
export const getRedemptionLock = (requestId: string) => `reward redemption ${requestId}`

/** SQL condition: the redemption has not ended. Matches the condition of the partial indexes. */
const isOpen = sql`status not in ('confirmed', 'cancelled', 'expired')`

/** Counts the redemptions of an account of the API that can still expire. Returns also the seconds until the first one expires. */
export async function countRedemptions(tx: Db, service: Service, username: string) {
  const row = await tx.row<OpenRecords>(sql`
    select count(*)::integer as count, coalesce(ceil(extract(epoch from min(expires_at) - clock_timestamp())), 0)::integer as seconds
      from reward_redemption where service_id = ${service.id} and username = ${username} and ${isOpen} and expires_at > clock_timestamp()`)
  if (!row) throw new Error('count of redemptions returned no row')
  return row
}

/** Seconds after which a request to a back office can no longer arrive. */
export const inFlightSeconds = 60

/** SQL condition: the redemption has expired and no request about it can be in flight. */
const isDue = sql`${isOpen} and expires_at <= clock_timestamp() - case when status = 'pending' then interval '0' else make_interval(secs => ${inFlightSeconds}) end`

export const listServicesWithDueRedemptions = async (db: Db): Promise<number[]> =>
  (await db.rows<{ id: number }>(sql`select distinct service_id as id from reward_redemption where ${isDue}`)).map(
    ({ id }) => id,
  )

/** Maximum number of redemptions that end in one batch. */
const maxEnded = 200

/** Returns due redemptions, oldest first. */
export const listDueRedemptions = (db: Db, service: Service) =>
  db.rows<Pick<Redemption, 'requestId' | 'accountId'>>(sql`
    select request_id as "requestId", account_id as "accountId" from reward_redemption
     where service_id = ${service.id} and ${isDue} order by expires_at limit ${maxEnded}`)

/** Locks a redemption until the transaction ends. Returns its status, or undefined if it is not due any more. */
export const lockDueRedemption = async (
  tx: Db,
  service: Service,
  requestId: string,
): Promise<RedemptionStatus | undefined> =>
  (
    await tx.row<{ status: RedemptionStatus }>(sql`
      select status from reward_redemption where service_id = ${service.id} and request_id = ${requestId} and ${isDue} for update`)
  )?.status

/** Marks due redemptions as expired and publishes their accounts. */
export async function expireRedemptions(
  tx: Db,
  service: Service,
  due: readonly Pick<Redemption, 'requestId' | 'accountId'>[],
): Promise<void> {
  await lockRewardAccounts(tx, service, sql`and id = any(${due.map(({ accountId }) => accountId)})`)
  const expired = await tx.rows<Pick<Redemption, 'requestId' | 'accountId'>>(sql`
    update reward_redemption set status = 'expired'
     where service_id = ${service.id} and request_id = any(${due.map(({ requestId }) => requestId)}::uuid[]) and ${isDue}
    returning request_id as "requestId", account_id as "accountId"`)
  if (!expired.length) return
  const requestIds = expired.map(({ requestId }) => requestId)
  await deleteParts(tx, service, requestIds)
  await settleOwedPoints(tx, service, requestIds)
  await tx.run(sql`
    update reward_account set changed_at = ${nextChangeTimestamp(service, ['reward_account'])}
     where service_id = ${service.id} and id = any(${expired.map(({ accountId }) => accountId)})`)
}

/** Deletes redemptions that ended long ago. Returns their number. */
export const purgeRedemptions = (db: Db) =>
  db.run(sql`
    delete from reward_redemption where status in ('confirmed', 'cancelled', 'expired') and expires_at < now() - interval '90 days'`)
