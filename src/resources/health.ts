import { findNewestBackup } from '../backup/history.ts'
import { includesRole } from '../domain/accounts.ts'
import { assessService, Health } from '../domain/health/health.ts'
import type { Sync } from '../domain/sync/syncs.ts'
import { get } from '../http/routing/route-definitions.ts'
import { readAlertRecords } from '../store/alerts/alerts.ts'
import { readWebhookRecords } from '../store/webhooks/endpoints.ts'
import { readSyncs } from './syncs.ts'

/** The health of the service, which the console and monitoring share. */
export const health = [
  get(
    '/health',
    {
      operationId: 'getHealth',
      tag: 'Alerts',
      summary: 'Get service health',
      description:
        'The current problems of the service, worst first: late or failed syncs, rejected and skipped records, failing webhooks, an open circuit breaker, and alerts. Webhooks are included for admins, alerts for maintainers.',
      response: Health,
    },
    async context => {
      const { db, service, role, driver } = context
      const isAdmin = includesRole(role, 'admin')
      const [syncs, webhooks, alerts, backup] = await Promise.all([
        readSyncs(db, context),
        isAdmin ? readWebhookRecords(db, service) : [],
        includesRole(role, 'maintainer') ? readAlertRecords(db, service) : [],
        isAdmin ? findNewestBackup(db) : undefined,
      ])
      return {
        data: assessService({
          syncs: JSON.parse(syncs) as Sync[],
          webhooks,
          alerts,
          breaker: driver.breaker ?? null,
          lastBackupAt: backup?.at,
          now: new Date(),
        }),
      }
    },
  ),
]
