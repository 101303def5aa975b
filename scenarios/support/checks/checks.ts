import { sql } from '../../../src/database/db.ts'
import type { ShopperClient } from '../actors/shoppers.ts'
import type { StaffWork } from '../actors/staff.ts'
import type { BackOffice } from '../back-office.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import type { Installation } from '../installation.ts'
import { listOpenWrites } from '../leases.ts'
import type { ReceivedEmail } from '../mailbox.ts'
import type { History } from '../operations/history.ts'
import { checkReturnsAndShipments } from './apparel21-states.ts'
import { checkApparel21Writes, checkStaffChanges } from './apparel21-writes.ts'
import { checkEmbeddedWrites } from './embedded-writes.ts'
import { checkInvariants, orderInvariants } from './ledgers.ts'
import { checkLists } from './lists.ts'
import { checkEmails } from './mail.ts'
import { checkVoucherBalances } from './voucher-balances.ts'

/** The results of a run, for the checks. */
export interface Evidence {
  installation: Installation
  history: History
  client: ShopperClient
  /** Results of the observers that ran during the scenario. */
  observed: readonly CheckResult[]
  /** Apparel21; absent if the embedded back office owns the records. */
  backOffice?: BackOffice | undefined
  /** Absent if no staff worked. */
  staffWork?: StaffWork | undefined
  emails?: { received: readonly ReceivedEmail[]; areAllSent: boolean } | undefined
}

/** Compares the responses that clients received with our tables, and both with the back office. */
export async function runChecks(evidence: Evidence): Promise<CheckResult[]> {
  const { installation, history, client, observed, backOffice, staffWork, emails } = evidence
  const { db, service, log, workers } = installation
  const open = await listOpenWrites(db)

  async function checkBackOffice(): Promise<CheckResult[]> {
    if (!backOffice) return checkEmbeddedWrites(db, service.id, history)
    const { simulator, driver, usedBefore } = backOffice
    // The simulator sends the email of a sold voucher at the first request that comes a second later. There may be no such request.
    simulator.change({ kind: 'allot-vouchers' })
    const drawnByTills = staffWork?.drawn ?? new Map()
    return [
      // Without the last syncs, the lists can be behind the back office.
      ...(driver ? await checkLists(simulator, db, service, client) : []),
      ...(driver ? await checkReturnsAndShipments(simulator, db, service.id) : []),
      ...(await checkApparel21Writes(simulator, db, service.id, history)),
      ...(staffWork ? [checkStaffChanges(simulator.state, staffWork)] : []),
      ...(await checkVoucherBalances(simulator, db, service.id, client, usedBefore, drawnByTills)),
    ]
  }

  /** Repeats each acknowledged operation that has a key. */
  async function checkReplays(): Promise<CheckResult> {
    const acknowledged = history.operations.filter(({ key }) => history.acknowledgedKeys.has(key))
    const wrong: string[] = []
    let count = 0
    for (const { key, repeat } of acknowledged) {
      if (!repeat) continue
      count++
      const { isReplay, status, code } = await repeat()
      if (!isReplay || status >= 300) wrong.push(`${key}: ${status} ${code ?? ''}`)
    }
    return check('each acknowledged key has its first response again, and no further effect', wrong, count)
  }

  return [
    check('there were writes to check', [], history.operations.length),
    check('every write has a final outcome', history.withoutResult),
    ...observed,
    ...(await checkBackOffice()),
    ...(await checkInvariants(db, orderInvariants(service.id))),
    ...(emails ? checkEmails(emails.received, history, workers, emails.areAllSent) : []),
    check('no write is open, and no voucher lock is left', open),
    await checkReplays(),
    // After the replays, which are compared too.
    check('all responses to a key are the same, byte by byte', history.contradictions),
    check(
      'no advisory lock, sync run or transaction is left',
      (
        await db.rows<{ left: string }>(sql`
          select 'a lock of ' || locktype as left from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
          union all select 'a run of sync ' || sync from sync_state where service_id = ${service.id} and run is not null
          union all select 'a transaction' from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
      ).map(({ left }) => left),
    ),
    check(
      'no response was internal_error',
      [...history.retries.keys()].filter(code => /internal_error/.test(code)),
    ),
    check('no unexpected error was logged', log.slice(0, 3)),
  ]
}
