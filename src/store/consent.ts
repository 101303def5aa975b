import { sql } from '../db.ts'
import type { ConsentChange } from '../domain/consent.ts'
import type { Write } from '../domain/write.ts'

/** Appends what a write has changed of a customer's consent to the record of it (contract 4). */
export async function recordConsent(
  { tx, service, username, requestId }: Write,
  customerId: string,
  changes: readonly ConsentChange[],
) {
  if (!changes.length) return
  await tx.run(sql`
    insert into consent_change (service_id, customer_id, channel, old_value, new_value, username, request_id)
    select ${service.id}, ${customerId}, channel, old, new, ${username}, ${requestId}
      from json_to_recordset(${JSON.stringify(changes)}) as c (channel text, old boolean, new boolean)`)
}
