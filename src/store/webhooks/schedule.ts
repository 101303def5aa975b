import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The job that delivers to an endpoint. Its subject is the webhook's ID. It exists while changes are undelivered. */
export const deliverWebhookJob = 'deliver-webhook'
/** The job that compares each endpoint's cursor with the newest change. */
export const scheduleDeliveriesJob = 'schedule-deliveries'

/** The alert about an endpoint whose deliveries have failed for an hour. */
export const failingAlert = 'webhook_failing'

/** An endpoint without a delivery job. */
export interface IdleEndpoint {
  serviceId: number
  id: string
  kinds: readonly Kind[]
  cursor: string
  hasDelivery: boolean
}

/** True if an endpoint of any service is not paused. */
export const hasWebhooks = async (db: Db) =>
  (await db.run(sql`select from webhook where state <> 'paused' limit 1`)) > 0

/** True if the jobs of the service run in this database. Nothing must be written for a service that is moving or being deleted. */
const isActiveService = sql`s.move_state is null and s.deletion_state is null`

/** Lists the endpoints of all services that are not paused and have no delivery job. */
export const findIdleWebhooks = (db: Db) =>
  db.rows<IdleEndpoint>(sql`
    select w.service_id as "serviceId", webhook_id as id, kinds, cursor, delivery_id is not null as "hasDelivery"
      from webhook w
      join service s on s.service_id = w.service_id and ${isActiveService}
      left join job j on (j.service_id, j.name, j.subject) = (w.service_id, ${deliverWebhookJob}, w.webhook_id)
     where state <> 'paused' and j.service_id is null`)

/** Adds a delivery job for each endpoint, due when its next attempt is allowed. The job does nothing if the endpoint was paused in between. */
export const addDeliveryJobs = (db: Db, service: Service, ids: readonly string[]) =>
  db.run(sql`
    with pending as (
      update webhook set pending_since = coalesce(pending_since, now()) where service_id = ${service.id} and webhook_id = any(${ids})
      returning service_id, webhook_id, not_before)
    insert into job (service_id, name, subject, due_at)
    select service_id, ${deliverWebhookJob}, webhook_id, greatest(now(), not_before) from pending
    on conflict do nothing`)

/** An endpoint whose deliveries have failed for an hour. */
export interface FailingEndpoint {
  serviceId: number
  id: string
  url: string
  /** RFC 3339. */
  since: string
}

/** Marks endpoints as failing and returns them. Each is returned once. */
export const markNewlyFailing = (db: Db) =>
  db.rows<FailingEndpoint>(sql`
    update webhook w set state = 'failing', changed_at = now(),
      state_reason = 'Deliveries have failed since ' || ${rfc3339(sql`failing_since`)} || '.'
      from service s
     where s.service_id = w.service_id and ${isActiveService} and state = 'active' and failing_since < now() - interval '1 hour'
    returning w.service_id as "serviceId", webhook_id as id, url, ${rfc3339(sql`failing_since`)} as since`)
