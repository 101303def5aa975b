import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAlert } from '../alerts/alerts.ts'
import type { Attempt } from './attempts.ts'
import { insertAttempt, insertPayload } from './attempts.ts'
import type { Endpoint } from './endpoints.ts'
import { failingAlert } from './schedule.ts'
import { unsealSecret } from './secrets.ts'

/** A stored delivery. Each attempt sends the same ID and body. */
export interface PendingDelivery {
  /** The header `webhook-id`. */
  id: string
  body: string
  /** The endpoint's cursor after the delivery succeeds. */
  cursor: string
  /** True if no further changes were available. */
  isLast: boolean
  /** Number of changes in the body. */
  changes: number
}

export interface EndpointState extends Endpoint {
  /** Signing secrets, the newest first. Empty if the newest one was encrypted under another SECRET_KEY. */
  secrets: readonly string[]
  delivery: PendingDelivery | null
  /** Seconds until the next attempt. */
  waitSeconds: number
  failures: number
  isCatchingUp: boolean
}

interface EndpointRow extends Omit<EndpointState, 'secrets'> {
  secret: Buffer
  previousSecret: Buffer | null
}

/** Reads an endpoint. Returns undefined if it was deleted. */
export async function readEndpointState(
  db: Db,
  keys: Keys,
  service: Service,
  id: string,
): Promise<EndpointState | undefined> {
  const row = await db.row<EndpointRow>(sql`
    select webhook_id as id, url, kinds, description, state, cursor, failures, is_catching_up as "isCatchingUp", secret,
           case when previous_until > now() then previous_secret end as "previousSecret",
           greatest(0, extract(epoch from not_before - now()))::float8 as "waitSeconds",
           case when delivery_id is not null then json_build_object('id', delivery_id, 'body', delivery_body, 'cursor', delivery_cursor,
             'isLast', delivery_is_last, 'changes', json_array_length(delivery_body::json->'data'->'changes')) end as delivery
      from webhook where service_id = ${service.id} and webhook_id = ${id}`)
  if (!row) return
  const { secret, previousSecret, ...endpoint } = row
  const [newest, previous] = [secret, previousSecret].map(sealed => sealed && unsealSecret(keys, service, id, sealed))
  return { ...endpoint, secrets: newest ? [newest, ...(previous ? [previous] : [])] : [] }
}

type CursorOwner = Pick<Endpoint, 'id' | 'cursor'>

/** Stores a delivery before it is sent. Returns false if the endpoint's cursor has moved or another delivery is pending. */
export const storeDelivery = async (db: Db, service: Service, { id, cursor }: CursorOwner, delivery: PendingDelivery) =>
  (await db.run(sql`
    update webhook set delivery_id = ${delivery.id}, delivery_body = ${delivery.body}, delivery_cursor = ${delivery.cursor},
      delivery_is_last = ${delivery.isLast}, pending_since = coalesce(pending_since, now())
     where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor} and delivery_id is null and state <> 'paused'`)) >
  0

/** Moves an endpoint's cursor past changes that it doesn't subscribe to. */
export const moveCursor = (db: Db, service: Service, { id, cursor }: CursorOwner, to: string, isLast: boolean) =>
  db.run(sql`
    update webhook set cursor = ${to}, ${setLag(isLast)}
     where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor} and delivery_id is null`)

const setLag = (isLast: boolean) =>
  isLast ? sql`pending_since = null, is_catching_up = false` : sql`pending_since = coalesce(pending_since, now())`

/**
 * Records that a delivery succeeded, and moves the cursor in the same statement. Does nothing if another attempt recorded it or the endpoint was
 * rewound. A delivery that was retried is older than the newest changes, so the endpoint still counts as behind.
 */
export async function recordSuccess(
  db: Database,
  service: Service,
  { id, failures }: Pick<EndpointState, 'id' | 'failures'>,
  { id: deliveryId, isLast }: PendingDelivery,
  attempt: Attempt,
): Promise<void> {
  const update = sql`
    with attempt as (${insertAttempt(service, id, attempt)}), payload as (${insertPayload(service, id, attempt)})
    update webhook set cursor = delivery_cursor, delivery_id = null, delivery_body = null, delivery_cursor = null, delivery_is_last = null,
      last_success_at = now(), failures = 0, failing_since = null, not_before = now(), ${setLag(isLast && failures === 0)},
      state = case state when 'failing' then 'active' else state end,
      state_reason = case state when 'failing' then null else state_reason end
     where service_id = ${service.id} and webhook_id = ${id} and delivery_id = ${deliveryId}`
  if (failures === 0) {
    await db.run(update)
    return
  }
  await db.transaction(async tx => {
    await tx.run(update)
    await resolveAlert(tx, service.id, { kind: failingAlert, subject: id })
  })
}

/** Records a failed attempt. `isGone` pauses the endpoint, because it responded 410. */
export const recordFailure = (
  db: Db,
  service: Service,
  id: string,
  delivery: PendingDelivery,
  attempt: Attempt,
  { waitSeconds, isGone }: { waitSeconds: number; isGone: boolean },
) =>
  db.run(sql`
    with attempt as (${insertAttempt(service, id, attempt)}), payload as (${insertPayload(service, id, attempt)})
    update webhook set failures = failures + 1, failing_since = coalesce(failing_since, now()), is_catching_up = true,
      not_before = now() + ${waitSeconds} * interval '1 s',
      last_failure = json_build_object('at', ${rfc3339(sql`now()`)}, 'status', ${attempt.status}::integer, 'detail', ${attempt.error}::text),
      state = case when ${isGone} then 'paused' else state end,
      state_reason = case when ${isGone} then ${attempt.error}::text else state_reason end
     where service_id = ${service.id} and webhook_id = ${id} and delivery_id = ${delivery.id}`)
