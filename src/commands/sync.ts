import type { Command } from 'commander'
import { openBackOffices } from '../backoffice/back-offices.ts'
import type { Driver } from '../backoffice/port/driver.ts'
import { runSyncIfReady } from '../backoffice/run-sync.ts'
import { backOfficeSettings, readConfig } from '../config/config.ts'
import type { Database } from '../database/db.ts'
import { DatabaseAway } from '../database/errors.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { effectiveIntervalSeconds, isOverdue, readSyncStatuses, type SyncStatus } from '../store/sync/status.ts'
import type { SyncResult } from '../sync/sync.ts'
import { examples } from './terminal/examples.ts'
import { quietLog } from './terminal/quiet-log.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'
import { syncProgress } from './terminal/sync-progress.ts'
import { table } from './terminal/table.ts'

interface Options {
  service?: string
  full?: boolean
  status?: boolean
}

/** `tillbridge sync`. Exit code: 0 all was pulled, 2 some records were rejected, 1 a sync could not be pulled. */
export const syncCommand = (program: Command) =>
  program
    .command('sync')
    .description('Sync from the back office now')
    .argument('[sync...]', 'only these, such as stock; all of them, if none is named')
    .option(...serviceOption)
    .option('--full', 'run a full sync')
    .option('--status', 'show how each sync stands, and pull nothing')
    .addHelpText(
      'after',
      `${examples(
        ['sync --service luma', 'runs all syncs'],
        ['sync stock --full --service luma', 'runs a full stock sync; missing stock becomes 0'],
        ['sync --status --service luma', 'when each sync was pulled last, and when it is next'],
      )}
Exit code: 0 when all was pulled, 2 when records were rejected, 1 when a sync could not be pulled.
`,
    )
    .action((syncs: string[], options: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(options.service)
        const offices = await openBackOffices({ db, keys, defaults: backOfficeSettings(readConfig()), log: quietLog() })
        try {
          const driver = offices.driverOf(service)
          const facts = options.status ? await readSyncStatuses(db, service) : []
          if (driver.isOurs && !facts.length)
            throw new Error(
              `Nothing is pulled for ${service.name}: it has the embedded back office, as far as the settings here say (tillbridge back-office show ${service.name}).`,
            )
          if (options.status) console.log(statusOf(driver, facts))
          else await pullAll(db, service, driver, chosen(driver, syncs), options.full ?? false)
        } finally {
          offices.close()
        }
      }),
    )

/** The syncs that are named, in the order in which one needs the other. */
function chosen({ syncs }: Driver, names: readonly string[]): readonly SyncDefinition[] {
  const unknown = names.filter(name => !syncs.some(sync => sync.name === name))
  if (unknown.length)
    throw new Error(`There is no sync ${unknown.join(', ')}; there are: ${syncs.map(({ name }) => name).join(', ')}.`)
  return names.length ? syncs.filter(({ name }) => names.includes(name)) : syncs
}

const figure = (value: number) => value.toLocaleString('en')

async function pullAll(
  db: Database,
  service: Service,
  driver: Driver,
  syncs: readonly SyncDefinition[],
  full: boolean,
) {
  const stop = stopBySignal(new Error('The run was stopped; the next one goes on from there.'))
  const rows: string[][] = []
  const remarks: string[] = []
  let failed = false
  let rejected = 0
  const fail = (sync: string, why: string) => {
    failed = true
    remarks.push(`${sync}: ${why}`)
  }
  for (const sync of syncs) {
    if (stop.signal.aborted) break
    const display = syncProgress(sync.name)
    try {
      const options = { full, signal: stop.signal, onProgress: display.show }
      const pulled = await runSyncIfReady(db, service, driver, sync, options).finally(display.end)
      if ('busy' in pulled) fail(sync.name, 'another process is pulling it.')
      else if ('waitsFor' in pulled)
        fail(sync.name, `nothing, before ${pulled.waitsFor.join(' and ')} have been pulled.`)
      else {
        rows.push(rowOf(sync.name, pulled.result))
        rejected += pulled.result.rejected
        for (const [text, times] of Object.entries(pulled.result.notes))
          remarks.push(`${sync.name}: ${figure(times)} ${text}.`)
      }
    } catch (error) {
      if (!stop.signal.aborted && !(error instanceof ApiError || error instanceof DatabaseAway)) throw error
      fail(sync.name, stop.signal.aborted ? 'stopped; the next run goes on from there.' : describe(error))
    }
  }
  stop.end()
  if (rows.length) console.log(table(['sync', 'read', 'new', 'changed', 'unchanged', 'removed', 'rejected', ''], rows))
  for (const remark of remarks) console.log(remark)
  if (failed) process.exitCode = 1
  else if (rejected) process.exitCode = 2
}

function describe(error: unknown) {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const { cause } = error
  return `${error.message} (${error.code}${cause instanceof Error && cause.message ? `: ${cause.message}` : ''})`
}

function rowOf(sync: string, { read, inserted, changed, removed, rejected, isFull, isIdle }: SyncResult) {
  const unchanged = Math.max(0, read - inserted - changed - rejected)
  return [
    sync,
    ...[read, inserted, changed, unchanged, removed, rejected].map(figure),
    isFull ? 'everything' : isIdle ? 'nothing' : 'changes',
  ]
}

/** Also where this command's environment does not say what stands behind the service: what is known of its syncs is in the database. */
function statusOf({ syncs }: Driver, facts: readonly SyncStatus[]) {
  const names = syncs.length ? syncs.map(({ name }) => name) : facts.map(({ sync }) => sync)
  const rows = names.map(name => {
    const planned = syncs.find(sync => sync.name === name)?.intervalSeconds
    const fact = facts.find(({ sync }) => sync === name)
    const {
      syncedAt = null,
      lagSeconds = null,
      lastResult = 'none',
      nextRunAt = null,
      fullOnlyIntervalSeconds = null,
    } = fact ?? {}
    const every = planned === undefined ? undefined : effectiveIntervalSeconds(planned, fullOnlyIntervalSeconds)
    const late = every !== undefined && lagSeconds !== null && isOverdue(lagSeconds, every) ? ' (late)' : ''
    const lag = lagSeconds === null ? '-' : `${figure(lagSeconds)} s${late}`
    return [
      name,
      lastResult,
      syncedAt ?? 'never',
      lag,
      every === undefined ? '-' : `${figure(every)} s`,
      nextRunAt ?? '-',
    ]
  })
  return table(['sync', 'last run', 'synced at', 'lag', 'every', 'next run'], rows)
}
