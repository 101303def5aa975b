import type { BackOffices } from '../../backoffice/back-offices.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import { ApiError } from '../../errors/api-error.ts'
import { orphanedServices } from '../../runtime/installation/orphaned-services.ts'
import { effectiveIntervalSeconds, isOverdue, readSyncStatuses } from '../../store/sync/status.ts'
import { listServices } from '../../store/tenancy/services.ts'

/** Lists each service's back office and its missing capabilities. Throws if a back office is unreachable. */
export async function backOffices(db: Database, offices: BackOffices, config: Config) {
  const lines: string[] = []
  const unreached = await orphanedServices(config, db)
  for (const service of await listServices(db)) {
    const opened = offices.driverOf(service)
    try {
      if (!opened.isOurs) await opened.look()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      unreached.push(`${service.name}: ${error.message} Run "tillbridge back-office test ${service.name}".`)
      continue
    }
    const { driver, release, capabilities } = await opened.backOffice(service).capabilities(db)
    const lacking = capabilities.filter(capability => !capability.available)
    lines.push(`${service.name}: ${driver} ${release}${lacking.length ? ', without' : ''}`)
    for (const { name, reason } of lacking) lines.push(`  ${name}: ${reason?.replaceAll('`', '')}`)
  }
  if (unreached.length) throw new Error([...unreached, ...lines].join('\n'))
  return lines.join('\n')
}

/** How old what is pulled is, by its schedule. Throws where it is too old, where its last run failed, and where it was never pulled. */
export async function syncs(db: Database, offices: BackOffices) {
  const wrong: string[] = []
  const well: string[] = []
  for (const service of await listServices(db)) {
    const planned = offices.driverOf(service).syncs
    const facts = planned.length ? await readSyncStatuses(db, service) : []
    const faults = planned.flatMap(({ name, intervalSeconds }) => {
      const {
        syncedAt = null,
        lagSeconds = null,
        lastResult,
        fullOnlyIntervalSeconds = null,
      } = facts.find(({ sync }) => sync === name) ?? {}
      if (lagSeconds === null) return [`${name} was never pulled to its end`]
      const every = effectiveIntervalSeconds(intervalSeconds, fullOnlyIntervalSeconds)
      if (isOverdue(lagSeconds, every)) return [`${name} is of ${syncedAt}; it should be pulled every ${every} s`]
      return lastResult === 'failed' ? [`the last run of ${name} failed`] : []
    })
    if (faults.length)
      wrong.push(`${service.name}: ${faults.join(', ')}. See: tillbridge sync --status --service ${service.name}`)
    else if (planned.length) well.push(`${service.name}: ${planned.length} syncs, each as old as its schedule allows`)
  }
  if (wrong.length) throw new Error([...wrong, ...well].join('\n'))
  return well.join('\n') || 'none is pulled'
}
