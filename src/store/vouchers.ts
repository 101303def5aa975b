import { timingSafeEqual } from 'node:crypto'
import { type Database, type Db, type Sql, sql } from '../db.ts'
import { decimalsOf } from '../domain/money.ts'
import { countFailure } from '../failures.ts'
import { hmac, type Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'
import { localTime } from './change.ts'

/** A voucher as a feed of finished vouchers brings it: with what was drawn so far. */
export interface VoucherRow {
  number: string
  pin: string
  state: 'active' | 'redeemed' | 'suspended'
  /** Amounts with the currency's decimals. */
  originalAmount: string
  usedAmount: string
  expiryDate: string | null
}

const pinHash = (keys: Keys, service: Service, number: string, pin: string) =>
  hmac(keys.pins, String(service.id), number, pin)

/** Adds vouchers that are not there yet, each with its ledger. */
export function insertVouchers(db: Database, keys: Keys, service: Service, rows: readonly VoucherRow[]): Promise<void> {
  const json = JSON.stringify(
    rows.map(({ pin, ...row }) => ({ ...row, pinHash: pinHash(keys, service, row.number, pin).toString('hex') })),
  )
  return db.transaction(async tx => {
    await tx.run(sql`
      insert into voucher (service_id, number, pin_hash, state, currency, original_amount, balance, expiry_date)
      select ${service.id}, number, decode("pinHash", 'hex'), state, ${service.settings.currency}, "originalAmount", 0, "expiryDate"
        from json_to_recordset(${json}) as v (number text, "pinHash" text, state text, "originalAmount" numeric, "expiryDate" date)
      on conflict do nothing`)
    await tx.run(sql`
      insert into voucher_entry (service_id, number, entry, kind, amount)
      select ${service.id}, number, entry, kind, amount
        from json_to_recordset(${json}) as v (number text, "originalAmount" numeric, "usedAmount" numeric)
       cross join lateral (values (1, 'issue', "originalAmount"), (2, 'redeem', -"usedAmount")) e (entry, kind, amount)
       where amount <> 0
       order by number, entry
      on conflict do nothing`)
  })
}

/** Wrong PINs of one address in a minute, over all vouchers of a service. */
const allowedFromAddress = 30
/** After so many wrong PINs a voucher refuses, for 30 s at first, then twice as long each time, a day at most. */
const freeFailures = 5

/** What a look-up comes to. A wrong PIN, an unknown number and a voucher that refuses are one and the same. */
export type LookUp = { record: string } | 'not accepted' | { retryAfter: number }

/**
 * Looks a voucher up by number and PIN. Whether the number exists makes no difference to what is read, compared and written, so
 * neither answer nor time tells (contract 7).
 */
export async function lookUpVoucher(
  db: Database,
  keys: Keys,
  service: Service,
  { number, pin, address }: { number: string; pin: string; address: string },
): Promise<LookUp> {
  const subject = hmac(keys.subjects, 'voucher', String(service.id), number)
  const given = pinHash(keys, service, number, pin)
  const guarded = await db.row<{ pin_hash: Buffer | null; refused: boolean }>(sql`
    select v.pin_hash, coalesce(g.refused_until > now(), false) as refused
      from (values (1)) always
      left join voucher v on v.service_id = ${service.id} and v.number = ${number}
      left join pin_guard g on g.service_id = ${service.id} and g.subject = ${subject}`)
  const right = timingSafeEqual(given, guarded?.pin_hash ?? Buffer.alloc(given.length))
  if (right && !guarded?.refused) {
    await db.run(sql`delete from pin_guard where service_id = ${service.id} and subject = ${subject}`)
    return (await readVoucher(db, service, number)) ?? 'not accepted'
  }
  const fromAddress = { subject: hmac(keys.subjects, 'pin', String(service.id), address), allowed: allowedFromAddress }
  const retryAfter = await countFailure(db, [fromAddress])
  await countWrongPin(db, service, subject)
  return retryAfter === undefined ? 'not accepted' : { retryAfter }
}

const countWrongPin = (db: Db, service: Service, subject: Buffer) =>
  db.run(sql`
    insert into pin_guard as g (service_id, subject, failures, refused_until) values (${service.id}, ${subject}, 1, now())
    on conflict (service_id, subject) do update
      set failures = g.failures + 1,
          refused_until = case when g.failures + 1 < ${freeFailures} then now()
                               else now() + least(interval '1 day', interval '30 s' * power(2, least(g.failures + 1 - ${freeFailures}, 12))) end`)

/** The voucher as JSON text (`Voucher`); one past its last day shows as expired. */
function readVoucher(db: Db, service: Service, number: string) {
  const decimals = decimalsOf(service.settings.currency)
  const money = (amount: Sql) => sql`round(${amount}, ${decimals}::integer)::text`
  return db.row<{ record: string }>(sql`
    select row_to_json(r)::text as record from (select
      v.number, s.status, v.currency, ${money(sql`v.original_amount`)} as "originalAmount", ${money(sql`v.original_amount - v.balance`)} as "usedAmount",
      ${money(sql`case when s.status in ('active', 'locked') then v.balance else 0 end`)} as "availableAmount",
      v.expiry_date as "expiryDate", case when v.locked_until > now() then ${localTime(sql`v.locked_until`, service)} end as "lockedUntil"
      from voucher v
      cross join lateral (select case when v.state in ('active', 'locked') and v.expiry_date < (now() at time zone ${service.settings.timeZone})::date
                                      then 'expired' else v.state end as status) s
     where v.service_id = ${service.id} and v.number = ${number}) r`)
}
