import { type Db, sql } from '../../database/db.ts'
import type { Actor } from '../../domain/audit.ts'
import { type Consent, type ConsentChange, getConsentChanges } from '../../domain/customers/consent.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Appends a customer's changes of consent to the consent record. */
export async function recordConsent(
  tx: Db,
  service: Service,
  { username, requestId }: Actor,
  customerId: string,
  changes: readonly ConsentChange[],
) {
  if (!changes.length) return
  await tx.run(sql`
    insert into consent_change (service_id, customer_id, channel, old_value, new_value, username, request_id)
    select ${service.id}, ${customerId}, channel, old, new, ${username}, ${requestId}
      from json_to_recordset(${JSON.stringify(changes)}) as c (channel text, old boolean, new boolean)`)
}

/** Appends the changes of consent that an import or a sync has made to existing customers. */
export async function recordConsentChanges(
  tx: Db,
  service: Service,
  { username, requestId }: Actor,
  before: readonly (Consent & { id: string })[],
  changed: readonly (Consent & { id: string })[],
) {
  const stored = new Map(before.map(customer => [customer.id, customer]))
  const changes = changed.flatMap(customer =>
    getConsentChanges(stored.get(customer.id), customer).map(change => ({ ...change, id: customer.id })),
  )
  if (!changes.length) return
  await tx.run(sql`
    insert into consent_change (service_id, customer_id, channel, old_value, new_value, username, request_id)
    select ${service.id}, id, channel, old, new, ${username}, ${requestId}
      from json_to_recordset(${JSON.stringify(changes)}) as c (id text, channel text, old boolean, new boolean)`)
}

/** True if a write of this service created the customer. Only such customers have a complete consent history. */
export const isCreatedHere = async (tx: Db, service: Service, customerId: string) =>
  Boolean(
    await tx.row(sql`
      select true as created from consent_change
       where service_id = ${service.id} and customer_id = ${customerId} and old_value is null limit 1`),
  )
