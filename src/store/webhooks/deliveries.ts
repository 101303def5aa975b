import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAlert } from '../alerts/alerts.ts'
import { rfc3339 } from '../lists/page.ts'
import type { Attempt } from './attempts.ts'
import { insertAttempt } from './attempts.ts'
import type { Endpoint } from './endpoints.ts'
import { failingAlert } from './schedule.ts'
import { openSecret } from './secrets.ts'

/** What goes out, the same each time that it is tried. */
export interface Delivery {
  /** Its `webhook-id`. */
  id: string
  body: string
  /** Where the endpoint stands once it is taken. */
  cursor: string
  /** Whether nothing more was there to tell. */
  isLast: boolean
  /** How many changes it tells of. */
  changes: number
}

/** An endpoint whose turn it is. */
export interface Due extends Endpoint {
  /** What signs: the newest first. None where the newest cannot be opened: it was sealed under another SECRET_KEY. */
  secrets: readonly string[]
  delivery: Delivery | null
  /** Until the next attempt. */
  waitSeconds: number
  failures: number
  isCatchingUp: boolean
}

interface Row extends Omit<Due, 'secrets'> {
  secret: Buffer
  former: Buffer | null
}

/** The endpoint as it is now; undefined where it is gone. */
export async function readDue(db: Db, keys: Keys, service: Service, id: string): Promise<Due | undefined> {
  const row = await db.row<Row>(sql`
    select webhook_id as id, url, kinds, description, state, cursor, failures, is_catching_up as "isCatchingUp", secret,
           case when former_until > now() then former_secret end as former,
           greatest(0, extract(epoch from not_before - now()))::float8 as "waitSeconds",
           case when delivery_id is not null then json_build_object('id', delivery_id, 'body', delivery_body, 'cursor', delivery_cursor,
             'isLast', delivery_is_last, 'changes', json_array_length(delivery_body::json->'data'->'changes')) end as delivery
      from webhook where service_id = ${service.id} and webhook_id = ${id}`)
  if (!row) return
  const { secret, former, ...rest } = row
  const [newest, before] = [secret, former].map(each => each && openSecret(keys, service, id, each))
  return { ...rest, secrets: newest ? [newest, ...(before ? [before] : [])] : [] }
}

type Standing = Pick<Endpoint, 'id' | 'cursor'>

/** Keeps what is about to go out. False where the endpoint stands elsewhere by now, or something is under way already. */
export const keepDelivery = async (db: Db, service: Service, { id, cursor }: Standing, delivery: Delivery) =>
  (await db.run(sql`
    update webhook set delivery_id = ${delivery.id}, delivery_body = ${delivery.body}, delivery_cursor = ${delivery.cursor},
      delivery_is_last = ${delivery.isLast}, pending_since = coalesce(pending_since, now())
     where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor} and delivery_id is null and state <> 'paused'`)) >
  0

/** Nothing is to be told up to there. */
export const passOver = (db: Db, service: Service, { id, cursor }: Standing, to: string, isLast: boolean) =>
  db.run(sql`
    update webhook set cursor = ${to}, ${told(isLast)}
     where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor} and delivery_id is null`)

const told = (isLast: boolean) =>
  isLast ? sql`pending_since = null, is_catching_up = false` : sql`pending_since = coalesce(pending_since, now())`

/**
 * It was taken: the place moves with the mark, in one statement, unless another one has marked it, or has had it stand elsewhere. What
 * has changed since a delivery that was repeated was put together is yet to be looked at.
 */
export async function markTaken(
  db: Database,
  service: Service,
  { id, failures }: Pick<Due, 'id' | 'failures'>,
  { id: deliveryId, isLast }: Delivery,
  attempt: Attempt,
): Promise<void> {
  const mark = sql`
    with attempt as (${insertAttempt(service, id, attempt)})
    update webhook set cursor = delivery_cursor, delivery_id = null, delivery_body = null, delivery_cursor = null, delivery_is_last = null,
      last_success_at = now(), failures = 0, failing_since = null, not_before = now(), ${told(isLast && failures === 0)},
      state = case state when 'failing' then 'active' else state end,
      state_reason = case state when 'failing' then null else state_reason end
     where service_id = ${service.id} and webhook_id = ${id} and delivery_id = ${deliveryId}`
  if (failures === 0) {
    await db.run(mark)
    return
  }
  await db.transaction(async tx => {
    await tx.run(mark)
    await resolveAlert(tx, service.id, { kind: failingAlert, subject: id })
  })
}

/** An attempt came to nothing. With `isGone` the endpoint wants no more, and is paused. */
export const markFailed = (
  db: Db,
  service: Service,
  id: string,
  delivery: Delivery,
  attempt: Attempt,
  { waitSeconds, isGone }: { waitSeconds: number; isGone: boolean },
) =>
  db.run(sql`
    with attempt as (${insertAttempt(service, id, attempt)})
    update webhook set failures = failures + 1, failing_since = coalesce(failing_since, now()), is_catching_up = true,
      not_before = now() + ${waitSeconds} * interval '1 s',
      last_failure = json_build_object('at', ${rfc3339(sql`now()`)}, 'status', ${attempt.status}::integer, 'detail', ${attempt.fault}::text),
      state = case when ${isGone} then 'paused' else state end,
      state_reason = case when ${isGone} then ${attempt.fault}::text else state_reason end
     where service_id = ${service.id} and webhook_id = ${id} and delivery_id = ${delivery.id}`)
