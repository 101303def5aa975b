import { type Db, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { rfc3339 } from '../lists/page.ts'

/** The job that delivers to an endpoint; its subject is the webhook's id. It is there as long as there is something to deliver. */
export const deliverWebhookJob = 'deliver-webhook'
/** The job that looks whether there is something to deliver. */
export const scheduleDeliveriesJob = 'schedule-deliveries'

/** The alert about an endpoint whose deliveries have failed for an hour. */
export const failingAlert = 'webhook_failing'

/** An endpoint that nobody is about to deliver to. */
export interface IdleEndpoint {
  serviceId: number
  id: string
  kinds: readonly Kind[]
  cursor: string
  hasDelivery: boolean
}

/** Whether there is any endpoint to deliver to. */
export const hasWebhooks = async (db: Db) =>
  (await db.run(sql`select from webhook where state <> 'paused' limit 1`)) > 0

/** Of a service whose jobs are done in this database: where it is still to come, nothing is to be written. */
const isHere = sql`s.move_state is null and s.deletion_state is null`

/** The endpoints, of all services, that are not paused and that no job delivers to. */
export const findIdleWebhooks = (db: Db) =>
  db.rows<IdleEndpoint>(sql`
    select w.service_id as "serviceId", webhook_id as id, kinds, cursor, delivery_id is not null as "hasDelivery"
      from webhook w
      join service s on s.service_id = w.service_id and ${isHere}
      left join job j on (j.service_id, j.name, j.subject) = (w.service_id, ${deliverWebhookJob}, w.webhook_id)
     where state <> 'paused' and j.service_id is null`)

/** Has these endpoints of a service delivered to, each when it may be tried. One that is paused meanwhile is found to be so. */
export const planDeliveries = (db: Db, service: Service, ids: readonly string[]) =>
  db.run(sql`
    with behind as (
      update webhook set pending_since = coalesce(pending_since, now()) where service_id = ${service.id} and webhook_id = any(${ids})
      returning service_id, webhook_id, not_before)
    insert into job (service_id, name, subject, due_at)
    select service_id, ${deliverWebhookJob}, webhook_id, greatest(now(), not_before) from behind
    on conflict do nothing`)

/** An endpoint whose deliveries have failed for an hour. */
export interface Failing {
  serviceId: number
  id: string
  url: string
  /** RFC 3339. */
  since: string
}

/** Endpoints that have begun to be failing: each is told once. */
export const newlyFailing = (db: Db) =>
  db.rows<Failing>(sql`
    update webhook w set state = 'failing', changed_at = now(),
      state_reason = 'Deliveries have failed since ' || ${rfc3339(sql`failing_since`)} || '.'
      from service s
     where s.service_id = w.service_id and ${isHere} and state = 'active' and failing_since < now() - interval '1 hour'
    returning w.service_id as "serviceId", webhook_id as id, url, ${rfc3339(sql`failing_since`)} as since`)
