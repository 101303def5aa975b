import type { BackOffices } from '../../backoffice/back-offices.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { ApiError } from '../../errors/api-error.ts'
import { findOrphanedServices } from '../../runtime/installation/orphaned-services.ts'
import { computeEffectiveInterval, isOverdue, readSyncStatuses } from '../../store/sync/status.ts'
import { listServices } from '../../store/tenancy/services.ts'

/** Lists each service's back office and its missing capabilities. Throws if a back office is unreachable. */
export async function checkBackOffices(db: Database, offices: BackOffices, config: Config) {
  const lines: string[] = []
  const unreachable = await findOrphanedServices(config, db)
  for (const service of await listServices(db)) {
    const opened = offices.getDriver(service)
    try {
      if (!opened.isEmbedded) await opened.probe()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      unreachable.push(`${service.name}: ${error.message} Run "tillbridge back-office test ${service.name}".`)
      continue
    }
    const { driver, release, capabilities } = await opened.backOffice(service).capabilities(db)
    const missing = capabilities.filter(capability => !capability.available)
    lines.push(`${service.name}: ${driver} ${release}${missing.length ? ', without' : ''}`)
    for (const { name, reason } of missing) lines.push(`  ${name}: ${reason?.replaceAll('`', '')}`)
  }
  if (unreachable.length) throw new Error([...unreachable, ...lines].join('\n'))
  return lines.join('\n') || 'no services'
}

/** Compares the age of each sync with its schedule. Throws if a sync is overdue, failed in its last run, or never succeeded. */
export async function checkSyncs(db: Database, offices: BackOffices) {
  const unhealthy: string[] = []
  const healthy: string[] = []
  for (const service of await listServices(db)) {
    const schedules = offices.getDriver(service).syncs
    const facts = schedules.length ? await readSyncStatuses(db, service) : []
    const problems = schedules.flatMap(({ name, intervalSeconds }) => {
      const {
        syncedAt = null,
        lagSeconds = null,
        lastResult,
        fullOnlyIntervalSeconds = null,
      } = facts.find(({ sync }) => sync === name) ?? {}
      if (lagSeconds === null) return [`${name} never succeeded`]
      const scheduledSeconds = computeEffectiveInterval(intervalSeconds, fullOnlyIntervalSeconds)
      if (isOverdue(lagSeconds, scheduledSeconds))
        return [`${name} is overdue: last synced at ${syncedAt}, every ${scheduledSeconds} s`]
      return lastResult === 'failed' ? [`the last run of ${name} failed`] : []
    })
    if (problems.length)
      unhealthy.push(`${service.name}: ${problems.join(', ')}. See: tillbridge sync --status --service ${service.name}`)
    else if (schedules.length) healthy.push(`${service.name}: ${countNoun(schedules.length, 'sync')}, none overdue`)
  }
  if (unhealthy.length) throw new Error([...unhealthy, ...healthy].join('\n'))
  return healthy.join('\n') || 'no syncs'
}
