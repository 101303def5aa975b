import { computeHmac, type Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { formatAmount, getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import { createIssueStep, type LedgerStep, planSteps } from '../../domain/vouchers/imported-voucher.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import type { ImportedState } from '../../domain/vouchers/voucher-row.ts'
import type { Upserted } from '../lists/change-timestamp.ts'
import { hashPin } from './pin.ts'

/** A voucher from an earlier system. Amounts are strings with at most the currency's decimals. */
interface ImportedVoucher {
  number: string
  pinHash: Buffer
  balance: string
  /** The issued amount, with or without later loads. Undefined: keeps the stored amount. Default: the balance. */
  originalAmount?: string | null | undefined
  /** Undefined: keeps the stored date. Null: never expires. */
  expiryDate?: string | null | undefined
  /** Undefined: keeps the stored state. Default: active. */
  state?: ImportedState | undefined
  /** Digest of all its fields, with the hash of the PIN. */
  digest: Buffer
}

/** Creates an imported voucher. Keeps only a keyed hash of the PIN, as for vouchers that Tillbridge issues. */
export function createImportedVoucher(
  keys: Keys,
  service: Service,
  { pin, ...row }: Omit<ImportedVoucher, 'pinHash' | 'digest'> & { pin: string },
): ImportedVoucher {
  const hash = hashPin(keys, service, row.number, pin)
  // A rotation keeps this key, so the same content has the same digest afterwards.
  const digest = computeHmac(keys.subjects, 'imported voucher', String(service.id), pin, JSON.stringify(row))
  return { ...row, pinHash: hash, digest }
}

interface StoredVoucher {
  number: string
  state: VoucherState
  currency: string
  /** The issued amount and all loads. */
  originalAmount: string
  issuedAmount: string
  balance: string
  expiryDate: string | null
  digest: Buffer | null
  /** The newest entry of the ledger. */
  entry: number
  importedEntry: number | null
}

/** The writes for a voucher: its columns, and the entries to append to its ledger. */
interface PlannedVoucher {
  number: string
  pinHash: string
  digest: string
  originalAmount: string
  expiryDate: string | null
  entry: number
  steps: readonly LedgerStep[]
}

/**
 * Inserts vouchers with their ledgers, and appends entries to vouchers of an earlier import that differ now. Throws `Contradiction` for a
 * voucher that was issued in Tillbridge, for one that was used since its import, and if no entries lead to its state.
 */
export const importVouchers = (
  db: Database,
  service: Service,
  vouchers: readonly ImportedVoucher[],
): Promise<Upserted> =>
  db.transaction(async tx => {
    const { currency } = service.settings
    const storedByNumber = await lockStored(tx, service, vouchers)
    const differing = vouchers.filter(({ number, digest }) => !storedByNumber.get(number)?.digest?.equals(digest))
    const planned = differing.map(voucher => planVoucher(voucher, storedByNumber.get(voucher.number), currency))
    const newVouchers = planned.filter(({ number }) => !storedByNumber.has(number))
    await insertNewVouchers(tx, service, newVouchers)
    await insertEntries(tx, service, planned, getDecimals(currency))
    await updateColumns(tx, service, planned)
    return { inserted: newVouchers.length, changed: planned.length - newVouchers.length }
  })

async function lockStored(tx: Db, service: Service, vouchers: readonly ImportedVoucher[]) {
  const numbers = vouchers.map(({ number }) => number)
  // A separate statement: the next one sees the entries of previous lock holders.
  await tx.run(
    sql`select from voucher where service_id = ${service.id} and number = any(${numbers}) order by number for update`,
  )
  const rows = await tx.rows<StoredVoucher>(sql`
    select number, state, currency, original_amount::text as "originalAmount", balance::text,
           (select amount::text from voucher_entry e where e.service_id = v.service_id and e.number = v.number and e.entry = 1) as "issuedAmount",
           expiry_date::text as "expiryDate", import_digest as digest,
           (select count(*)::integer from voucher_entry e where e.service_id = v.service_id and e.number = v.number) as entry,
           imported_entry as "importedEntry"
      from voucher v where service_id = ${service.id} and number = any(${numbers})`)
  return new Map(rows.map(row => [row.number, row]))
}

/** Returns the writes that change the stored voucher into the imported one. */
function planVoucher(imported: ImportedVoucher, stored: StoredVoucher | undefined, currency: string): PlannedVoucher {
  const decimals = getDecimals(currency)
  const toUnits = (text: string) => parseStoredAmount(text, decimals)
  const { number, pinHash, digest } = imported
  if (stored && stored.importedEntry === null) throw new Contradiction('voucher_issued_here')
  if (stored && stored.entry !== stored.importedEntry) throw new Contradiction('voucher_used_here')
  if (stored && stored.currency !== currency) throw new Contradiction('voucher_original_amount')
  const balance = toUnits(imported.balance)
  const importedOriginal = imported.originalAmount == null ? undefined : toUnits(imported.originalAmount)
  const original = stored ? toUnits(stored.originalAmount) : (importedOriginal ?? balance)
  if (original === 0n) throw new Contradiction('voucher_original_amount_check')
  if (stored && importedOriginal !== undefined) {
    const isKnown = importedOriginal === original || importedOriginal === toUnits(stored.issuedAmount)
    const isLoaded = importedOriginal > original && balance > toUnits(stored.balance)
    if (!isKnown && !isLoaded) throw new Contradiction('voucher_original_amount')
  }
  const total = [original, importedOriginal ?? original, balance].reduce((a, b) => (b > a ? b : a))
  const target = { state: imported.state ?? getTargetState(stored), balance, load: total - original }
  const issueSteps = stored ? [] : [createIssueStep(original, target.state === 'pending' ? 'pending' : 'active')]
  const from = stored
    ? { state: stored.state, balance: toUnits(stored.balance) }
    : { state: issueSteps[0]?.state ?? 'active', balance: original }
  const nextSteps = planSteps(from, target)
  if (!nextSteps) throw new Contradiction('voucher_steps')
  return {
    number,
    pinHash: pinHash.toString('hex'),
    digest: digest.toString('hex'),
    originalAmount: formatAmount(original, decimals),
    expiryDate: imported.expiryDate === undefined ? (stored?.expiryDate ?? null) : imported.expiryDate,
    entry: stored?.entry ?? 0,
    steps: [...issueSteps, ...nextSteps],
  }
}

/** The state of an imported voucher without a state. */
const getTargetState = (stored: StoredVoucher | undefined): ImportedState =>
  stored === undefined || stored.state === 'locked' || stored.state === 'redeemed' ? 'active' : stored.state

/** Inserts vouchers with empty ledgers. Fails with a key violation if a number was used concurrently. */
const insertNewVouchers = (tx: Db, service: Service, vouchers: readonly PlannedVoucher[]) =>
  tx.run(sql`
    insert into voucher (service_id, number, state, currency, original_amount, balance)
    select ${service.id}, number, 'pending', ${service.settings.currency}, "originalAmount", 0
      from json_to_recordset(${JSON.stringify(vouchers.map(({ number, originalAmount }) => ({ number, originalAmount })))}) as v (number text, "originalAmount" numeric)`)

function insertEntries(tx: Db, service: Service, vouchers: readonly PlannedVoucher[], decimals: number) {
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

/** Updates the columns that no ledger entry sets. */
const updateColumns = (tx: Db, service: Service, vouchers: readonly PlannedVoucher[]) =>
  tx.run(sql`
    update voucher v
       set pin_hash = decode(w."pinHash", 'hex'), import_digest = decode(w.digest, 'hex'), expiry_date = w."expiryDate",
           imported_entry = w.entry + w.count
      from json_to_recordset(${JSON.stringify(vouchers.map(({ steps, ...voucher }) => ({ ...voucher, count: steps.length })))})
           as w (number text, "pinHash" text, digest text, "expiryDate" date, entry integer, count integer)
     where v.service_id = ${service.id} and v.number = w.number`)
