import { type Db, sql } from '../../database/db.ts'
import type { CustomerState } from '../../domain/customers/changes.ts'
import type { Consent } from '../../domain/customers/consent.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson, mergeCustomers } from './customers.ts'

/** A stored customer, with the fields that a change depends on. */
export interface StoredCustomer extends CustomerState {
  id: string
}

/** Locks and reads a customer: of two concurrent changes, the second sees the first. Returns undefined if the customer does not exist. */
export async function lockCustomer(tx: Db, service: Service, id: string): Promise<StoredCustomer | undefined> {
  const row = await tx.row<Consent & { record: string; references: Record<string, string> }>(sql`
    select ${customerJson} as record, privacy, email_subscription as "emailSubscription",
           sms_subscription as "smsSubscription", reference_values as references
      from customer where service_id = ${service.id} and id = ${id} for no key update`)
  if (!row) return
  const { record, references, ...consent } = row
  return { id, record, consent, references: new Map(Object.entries(references)) }
}

/** The columns of a customer that change. For a new customer, all columns. */
interface CustomerColumns {
  id: string
  email?: string | null | undefined
  [column: string]: unknown
}

/** Inserts or updates a customer. Returns false if another customer has the email address. */
export async function upsertCustomer(tx: Db, service: Service, row: CustomerColumns): Promise<boolean> {
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
