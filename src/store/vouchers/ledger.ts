import { type Db, sql } from '../../db.ts'
import { amount, decimalsOf, minorUnits } from '../../domain/money.ts'
import { stateAfter, type VoucherState, type VoucherStep } from '../../domain/vouchers/states.ts'
import type { Service } from '../../settings.ts'
import { localTime } from '../lists/change.ts'

/** A voucher whose row this transaction has: nobody else changes it until the transaction ends. */
export interface TakenVoucher {
  number: string
  state: VoucherState
  currency: string
  /** In minor units. */
  balance: bigint
  /** On the clock of the service's time zone. */
  lockedUntil: string | null
  validationHash: Buffer | null
  supersededHashes: Buffer[]
  /** Whether the newest validation is younger than 24 hours. */
  isFresh: boolean
}

interface Row extends Omit<TakenVoucher, 'balance'> {
  balance: string
  hasLapsed: boolean
  isPast: boolean
}

/**
 * Takes a voucher for this transaction, and writes into its ledger what time has done to it: a lock that has run out, a last day
 * that is over. Time is the database's. Who takes several takes them in the order of their numbers. Undefined: there is none.
 */
export async function takeVoucher(tx: Db, service: Service, number: string): Promise<TakenVoucher | undefined> {
  const here = sql`service_id = ${service.id} and number = ${number}`
  // A statement of its own: the next one sees what whoever had it before has left, and reads the clock after the wait.
  await tx.run(sql`select from voucher where ${here} for update`)
  const row = await tx.row<Row>(sql`
    select number, state, currency, balance::text, validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           ${localTime(sql`locked_until`, service)} as "lockedUntil", coalesce(validated_until > statement_timestamp(), false) as "isFresh",
           coalesce(locked_until <= statement_timestamp(), false) as "hasLapsed",
           coalesce(expiry_date < ${today(service)}, false) as "isPast"
      from voucher where ${here}`)
  if (!row) return
  const { balance, hasLapsed, isPast, ...rest } = row
  let voucher: TakenVoucher = { ...rest, balance: minorUnits(balance, decimalsOf(row.currency)) ?? 0n }
  if (hasLapsed) voucher = await takeStep(tx, service, voucher, 'unlock')
  if (isPast && voucher.state === 'active') voucher = await takeStep(tx, service, voucher, 'expire')
  return voucher
}

/** The day it is, in the service's time zone. */
export const today = (service: Service) => sql`(statement_timestamp() at time zone ${service.settings.timeZone})::date`

interface Step {
  /** Minor units: below zero for what is drawn. */
  change?: bigint
  lockSeconds?: number
  heldBy?: string
  orderNumber?: string
}

/** Takes a step that the table of states allows (domain/voucher-states.ts), as an entry of the ledger; balance and state follow it. */
export async function takeStep(
  tx: Db,
  service: Service,
  voucher: TakenVoucher,
  kind: VoucherStep,
  { change = 0n, lockSeconds, heldBy, orderNumber }: Step = {},
): Promise<TakenVoucher> {
  const balance = voucher.balance + change
  const state = stateAfter(voucher.state, kind, balance)
  if (!state) throw new Error(`a voucher that is ${voucher.state} cannot take the step ${kind}`)
  const isLocked = state === 'locked'
  const entered = await tx.row<{ lockedUntil: string | null }>(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, held_by, order_number)
    select service_id, number, (select coalesce(max(entry), 0) + 1 from voucher_entry e where e.service_id = v.service_id and e.number = v.number), ${kind},
           ${amount(change, decimalsOf(voucher.currency))}, ${state},
           case when ${isLocked} then coalesce(statement_timestamp() + make_interval(secs => ${lockSeconds ?? null}), locked_until) end,
           case when ${isLocked} then coalesce(${heldBy ?? null}, held_by) end, ${orderNumber ?? null}
      from voucher v where service_id = ${service.id} and number = ${voucher.number}
    returning ${localTime(sql`locked_until`, service)} as "lockedUntil"`)
  return { ...voucher, balance, state, lockedUntil: entered?.lockedUntil ?? null }
}
