import { type Db, sql } from '../../database/db.ts'
import type { CustomerState } from '../../domain/customers/changes.ts'
import type { Consent } from '../../domain/customers/consent.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson, mergeCustomers } from './customers.ts'

/** A customer as stored, and what a change of it depends on. */
export interface StoredCustomer extends CustomerState {
  id: string
}

/** Locks a customer until the transaction ends, and reads it as it stands then: of two changes at once the second sees the first. */
export async function lockCustomer(tx: Db, service: Service, id: string): Promise<StoredCustomer | undefined> {
  const row = await tx.row<Consent & { record: string; references: Record<string, string> }>(sql`
    select ${customerJson} as record, privacy, email_subscription as "emailSubscription",
           sms_subscription as "smsSubscription", reference_values as references
      from customer where service_id = ${service.id} and id = ${id} for no key update`)
  if (!row) return
  const { record, references, ...consent } = row
  return { id, record, consent, references: new Map(Object.entries(references)) }
}

/** A customer's row: the columns that change, and for a new one all that it says. */
interface CustomerRow {
  id: string
  email?: string | null | undefined
  [column: string]: unknown
}

/** Puts a customer in; false where another one has the e-mail address. */
export async function putCustomer(tx: Db, service: Service, row: CustomerRow): Promise<boolean> {
  try {
    await Promise.all([tx.run(sql`savepoint customer`), mergeCustomers(tx, service, [row])])
    return true
  } catch (error) {
    if (!isEmailTaken(error)) throw error
    await tx.run(sql`rollback to savepoint customer`)
    return false
  }
}

const isEmailTaken = (error: unknown) => {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown }
  return code === '23505' && constraint === 'customer_email'
}
