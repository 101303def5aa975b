import { createHash } from 'node:crypto'
import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { formatAmount, getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import { createIssueStep, type LedgerStep, planSteps } from '../../domain/vouchers/imported-voucher.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import type { ImportedState } from '../../domain/vouchers/voucher-row.ts'
import type { Upserted } from '../lists/change-timestamp.ts'
import { pinHash } from './pin.ts'

/** A voucher of an earlier system. Amounts as text, with the currency's decimals at most. */
interface BroughtVoucher {
  number: string
  pinHash: Buffer
  balance: string
  /** Absent: as it is stored, or else the balance. */
  originalAmount?: string | null | undefined
  /** Absent: as it is stored; null: it never expires. */
  expiryDate?: string | null | undefined
  /** Absent: as it is stored, or else active. */
  state?: ImportedState | undefined
  /** Of all that is said of it, the PIN by its hash. */
  digest: Buffer
}

/** A voucher without its PIN: what is kept of that is its keyed hash, as of a voucher that is issued here. */
export function broughtVoucher(
  keys: Keys,
  service: Service,
  { pin, ...row }: Omit<BroughtVoucher, 'pinHash' | 'digest'> & { pin: string },
): BroughtVoucher {
  const hash = pinHash(keys, service, row.number, pin)
  const digest = createHash('sha256')
    .update(JSON.stringify([hash.toString('hex'), row]))
    .digest()
  return { ...row, pinHash: hash, digest }
}

interface Stored {
  number: string
  state: VoucherState
  currency: string
  originalAmount: string
  balance: string
  expiryDate: string | null
  digest: Buffer | null
  /** The newest entry of the ledger. */
  entry: number
  importedEntry: number | null
}

/** What is written of a voucher: its columns, and the entries that follow on those that it has. */
interface Written {
  number: string
  pinHash: string
  digest: string
  originalAmount: string
  expiryDate: string | null
  entry: number
  steps: readonly LedgerStep[]
}

/**
 * Adds vouchers, each with its ledger, and lets those that an import brought follow a later one by further entries. Throws
 * `Contradiction` for a number that was issued here, a voucher that was used here since, and what no entries lead to.
 */
export const bringVouchers = (db: Database, service: Service, vouchers: readonly BroughtVoucher[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const { currency } = service.settings
    const there = await storedOf(tx, service, vouchers)
    const said = vouchers.filter(({ number, digest }) => !there.get(number)?.digest?.equals(digest))
    const written = said.map(one => follow(one, there.get(one.number), currency))
    const fresh = written.filter(({ number }) => !there.has(number))
    await addFresh(tx, service, fresh)
    await addEntries(tx, service, written, getDecimals(currency))
    await note(tx, service, written)
    return { inserted: fresh.length, changed: written.length - fresh.length }
  })

async function storedOf(tx: Db, service: Service, vouchers: readonly BroughtVoucher[]) {
  const numbers = vouchers.map(({ number }) => number)
  // A statement of its own: the next one sees the entries of whoever had a voucher before.
  await tx.run(
    sql`select from voucher where service_id = ${service.id} and number = any(${numbers}) order by number for update`,
  )
  const rows = await tx.rows<Stored>(sql`
    select number, state, currency, original_amount::text as "originalAmount", balance::text, expiry_date::text as "expiryDate", import_digest as digest,
           (select count(*)::integer from voucher_entry e where e.service_id = v.service_id and e.number = v.number) as entry,
           imported_entry as "importedEntry"
      from voucher v where service_id = ${service.id} and number = any(${numbers})`)
  return new Map(rows.map(row => [row.number, row]))
}

/** What is to be written of a voucher that is said to be another one than is stored. */
function follow(brought: BroughtVoucher, stored: Stored | undefined, currency: string): Written {
  const decimals = getDecimals(currency)
  const units = (text: string) => parseStoredAmount(text, decimals)
  const { number, pinHash, digest } = brought
  if (stored && stored.importedEntry === null) throw new Contradiction('voucher_issued_here')
  if (stored && stored.entry !== stored.importedEntry) throw new Contradiction('voucher_used_here')
  if (stored && stored.currency !== currency) throw new Contradiction('voucher_original_amount')
  const original = units(brought.originalAmount ?? stored?.originalAmount ?? brought.balance)
  if (original === 0n) throw new Contradiction('voucher_original_amount_check')
  if (stored && original !== units(stored.originalAmount)) throw new Contradiction('voucher_original_amount')
  const wanted = { state: brought.state ?? stateOf(stored), balance: units(brought.balance) }
  const first = stored ? [] : [createIssueStep(original, wanted.state === 'pending' ? 'pending' : 'active')]
  const from = stored
    ? { state: stored.state, balance: units(stored.balance) }
    : { state: first[0]?.state ?? 'active', balance: original }
  const further = planSteps(from, wanted)
  if (!further) throw new Contradiction('voucher_steps')
  return {
    number,
    pinHash: pinHash.toString('hex'),
    digest: digest.toString('hex'),
    originalAmount: formatAmount(original, decimals),
    expiryDate: brought.expiryDate === undefined ? (stored?.expiryDate ?? null) : brought.expiryDate,
    entry: stored?.entry ?? 0,
    steps: [...first, ...further],
  }
}

/** Where a voucher goes on standing of which only the balance is told. */
const stateOf = (stored: Stored | undefined): ImportedState =>
  stored === undefined || stored.state === 'locked' || stored.state === 'redeemed' ? 'active' : stored.state

/** Adds vouchers whose ledgers have no entry yet. A number that somebody took meanwhile breaks the key. */
const addFresh = (tx: Db, service: Service, vouchers: readonly Written[]) =>
  tx.run(sql`
    insert into voucher (service_id, number, state, currency, original_amount, balance)
    select ${service.id}, number, 'pending', ${service.settings.currency}, "originalAmount", 0
      from json_to_recordset(${JSON.stringify(vouchers.map(({ number, originalAmount }) => ({ number, originalAmount })))}) as v (number text, "originalAmount" numeric)`)

function addEntries(tx: Db, service: Service, vouchers: readonly Written[], decimals: number) {
  const entries = vouchers.flatMap(({ number, entry, steps }) =>
    steps.map(({ kind, change, state }, i) => ({
      number,
      entry: entry + i + 1,
      kind,
      amount: formatAmount(change, decimals),
      state,
    })),
  )
  return tx.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until)
    select ${service.id}, number, entry, kind, amount, state, case when state = 'locked' then now() end
      from json_to_recordset(${JSON.stringify(entries)}) as e (number text, entry integer, kind text, amount numeric, state text)
     order by number, entry`)
}

/** Keeps what is no entry. */
const note = (tx: Db, service: Service, vouchers: readonly Written[]) =>
  tx.run(sql`
    update voucher v
       set pin_hash = decode(w."pinHash", 'hex'), import_digest = decode(w.digest, 'hex'), expiry_date = w."expiryDate",
           imported_entry = w.entry + w.count
      from json_to_recordset(${JSON.stringify(vouchers.map(({ steps, ...one }) => ({ ...one, count: steps.length })))})
           as w (number text, "pinHash" text, digest text, "expiryDate" date, entry integer, count integer)
     where v.service_id = ${service.id} and v.number = w.number`)
