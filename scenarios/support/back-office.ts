/** Runs a simulated Apparel21 in this process, which is never killed, so that checks can read its state, ledger and faults. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Simulator } from '../../simulator/control/handle.ts'
import type { Size } from '../../simulator/generate/shop.ts'
import type { Person } from '../../simulator/shop/records.ts'
import type { Return } from '../../simulator/shop/sales.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import type { Driver } from '../../src/backoffice/port/driver.ts'
import { runSyncIfReady } from '../../src/backoffice/run-sync.ts'
import type { SyncDefinition } from '../../src/domain/sync/port.ts'
import type { Settings } from '../../src/domain/tenancy/service-settings.ts'
import { ensureLocalCertificate } from '../../src/tls/tls.ts'
import type { Customer, Voucher } from './actors/shoppers.ts'
import { isOwnedByStaff } from './actors/staff.ts'
import { openSpedUpDriver, timeZone } from './clock-speed-up.ts'
import type { Installation } from './installation.ts'
import type { History } from './operations/history.ts'

export const apparel21Settings: Partial<Settings> = {
  currency: 'AUD',
  timeZone,
  vouchersEnabled: true,
  giftCardSku: '9001',
  voucherType: 'GV_EMAIL',
  subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } },
}

export interface BackOffice {
  simulator: Simulator
  /** A driver with short timeouts; absent if Tillbridge's own processes have production timeouts. */
  driver?: Driver
  /** Environment of processes that read the back office from it. */
  environment: Record<string, string>
  /** The dollars of each voucher that were used before the scenario, by number. */
  usedBefore: ReadonlyMap<string, number>
  /** Customers that shoppers can change. */
  customers: Customer[]
  /** Vouchers whose PINs the shoppers know: some that exist, and those that the back office emailed. */
  vouchers(): Voucher[]
  /** True if a client created the person or return and has no response yet. */
  awaitsResponse(record: Person | Return, history: History): boolean
  close(): Promise<void>
}

export interface BackOfficeOptions {
  seed: number
  directory: string
  sizes: Partial<Size>
  release: string
  /** With HTTPS and a sped-up driver. */
  isSpedUp: boolean
}

export async function openBackOffice(options: BackOfficeOptions): Promise<BackOffice> {
  const { seed, directory, sizes, release, isSpedUp } = options
  const certificate = isSpedUp ? ensureLocalCertificate(join(directory, 'simulator')) : undefined
  const simulator = await startSimulator({
    seed: String(seed),
    sizes,
    release,
    settings: { voucherSeconds: 1 },
    ...(certificate && { tls: { key: certificate.key, cert: certificate.cert } }),
  })
  const { state, url } = simulator
  const driver = certificate && openSpedUpDriver(url, readFileSync(certificate.caFile, 'utf8'))
  const lastPersonBefore = Math.max(...state.persons.keys())
  const usable = () =>
    [...state.vouchers.values()].filter(
      ({ currency, secure, state: status }) => currency === 'AUD' && secure && status === 'issued',
    )
  return {
    simulator,
    ...(driver && { driver }),
    environment: certificate
      ? {
          BACK_OFFICE: 'apparel21',
          BACK_OFFICE_URL: url,
          BACK_OFFICE_COUNTRY: 'AU',
          BACK_OFFICE_CA_FILE: certificate.caFile,
        }
      : {},
    usedBefore: new Map([...state.vouchers.values()].map(({ number, used }) => [number, used])),
    customers: [...state.persons.values()]
      .filter(person => person.email && !isOwnedByStaff(person))
      .map(({ id, email }) => ({ id: String(id), email })),
    vouchers: () => [
      ...usable()
        .slice(0, 12)
        .map(({ number, pin }) => ({ number, pin })),
      ...state.mail.slice(-20).map(({ voucher, pin }) => ({ number: voucher, pin })),
    ],
    awaitsResponse(record, { acknowledgedKeys }) {
      const key =
        'lines' in record
          ? record.lines[0]?.returnReasonNotes
          : record.id > lastPersonBefore && record.email.split('@')[0]
      return typeof key === 'string' && !acknowledgedKeys.has(key)
    },
    async close() {
      driver?.close()
      await simulator.close()
    },
  }
}

/** Waits at most 60 s until the jobs have finished every initial sync. */
export async function waitForInitialSyncs({ db }: Installation, { syncs }: Driver) {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await delay(100)) {
    const { rows } = await db.pool.query('select sync from sync_state where finished_at is not null')
    if (rows.length === syncs.length) return
  }
  throw new Error('The jobs did not finish every initial sync within 60 s, although there is no fault yet.')
}

/** Runs each sync in full and then incrementally: only an incremental sync returns negative stock. */
export async function runAllSyncs({ db, service }: Installation, driver: Driver) {
  for (const full of [true, false])
    for (const sync of driver.syncs)
      for (const deadline = performance.now() + 30_000; ; await delay(300)) {
        // The circuit breaker can still be open, and a run that was killed can still have its lease.
        const result = await runSyncIfReady(db, service, driver, withoutSchedule(sync), { full }).catch(
          (error: Error) => error,
        )
        if ('result' in result) break
        if (performance.now() > deadline) throw new Error(`Sync ${sync.name} fails: ${JSON.stringify(result)}`)
      }
}

/** A sync that runs in full only on request. */
const withoutSchedule = (sync: SyncDefinition): SyncDefinition =>
  sync.fullIntervalSeconds === undefined ? sync : { ...sync, fullIntervalSeconds: 86_400 }
