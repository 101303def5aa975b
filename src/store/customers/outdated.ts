import { type Db, sql } from '../../database/db.ts'
import { type Consent, noConsent } from '../../domain/customers/consent.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { SourceDated } from '../lists/back-date.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'

/** A customer of a file or a sync, with the columns that it has. */
export type CustomerRow = SourceDated & { id: string }

/** The consent of a stored customer, and the times (`YYYY-MM-DD HH:MM:SS`) of the content and of each flag. */
interface StoredContent extends Consent {
  id: string
  changedAt: string | null
  privacyChangedAt: string | null
  emailSubscriptionChangedAt: string | null
  smsSubscriptionChangedAt: string | null
}

const subscriptions = ['emailSubscription', 'smsSubscription'] as const satisfies (keyof Consent)[]
const flags = ['privacy', ...subscriptions] as const

/**
 * Drops rows that are older than the content of the stored customer. A flag of consent has its own time: a row keeps newer flags.
 * So a withdrawal is never lost, and an older opt-in never wins. Call it with the customers locked.
 */
export async function dropOlderFields(tx: Db, service: Service, rows: readonly CustomerRow[]): Promise<CustomerRow[]> {
  const stored = await readStoredContent(tx, service, rows)
  return rows.flatMap(row => selectNewerFields(row, stored.get(row.id)))
}

/**
 * Keeps consent that was withdrawn after the time of a row: a back office can return an older state of a customer. Takes the other
 * fields from the row. Call it with the customers locked.
 */
export async function keepWithdrawals(tx: Db, service: Service, rows: readonly CustomerRow[]): Promise<CustomerRow[]> {
  const stored = await readStoredContent(tx, service, rows)
  return rows.map(row => withNewerWithdrawals(row, stored.get(row.id)))
}

function withNewerWithdrawals(row: CustomerRow & Partial<Consent>, stored: StoredContent | undefined): CustomerRow {
  const { updateTimeStamp: time } = row
  if (!time || !stored) return row
  const isNewer = (flag: keyof Consent) => time < (stored[`${flag}ChangedAt`] ?? '')
  if (row.privacy === false && stored.privacy && isNewer('privacy')) return { ...row, ...noConsent }
  const withdrawn = subscriptions.filter(flag => row[flag] && !stored[flag] && isNewer(flag))
  return { ...row, ...Object.fromEntries(withdrawn.map(flag => [flag, false])) }
}

/** Returns the content of the stored customers of rows that have a time, by ID. */
async function readStoredContent(tx: Db, service: Service, rows: readonly CustomerRow[]) {
  const ids = rows.flatMap(({ id, updateTimeStamp }) => (updateTimeStamp ? id : []))
  const stored = await tx.rows<StoredContent>(sql`
    select id, privacy, email_subscription as "emailSubscription", sms_subscription as "smsSubscription",
           source_changed_at::text as "changedAt", privacy_changed_at::text as "privacyChangedAt",
           email_subscription_changed_at::text as "emailSubscriptionChangedAt", sms_subscription_changed_at::text as "smsSubscriptionChangedAt"
      from customer where service_id = ${opaqueServiceId(service)} and id = any(${ids})`)
  return new Map(stored.map(customer => [customer.id, customer]))
}

function selectNewerFields(row: CustomerRow & Partial<Consent>, stored: StoredContent | undefined): CustomerRow[] {
  const { id, updateTimeStamp: time } = row
  if (!time || !stored?.changedAt || time >= stored.changedAt) return [row]
  const newer = flags.filter(
    flag => row[flag] !== undefined && row[flag] !== stored[flag] && time > (stored[`${flag}ChangedAt`] ?? ''),
  )
  return newer.length
    ? [{ id, updateTimeStamp: time, ...Object.fromEntries(newer.map(flag => [flag, row[flag]])) }]
    : []
}
