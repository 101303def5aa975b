import { runSyncIfReady } from '../backoffice/run-sync.ts'
import { readConfig } from '../config/config.ts'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import { isPlatformSync, type PlatformSyncName } from '../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { openPlatform } from '../ecommerce/connections.ts'
import { runPlatformSync } from '../ecommerce/run-platform-sync.ts'
import { ApiError } from '../errors/api-error.ts'
import { openConfiguredBackOffices } from '../runtime/app.ts'
import { computeEffectiveInterval, isOverdue, readSyncStatuses, type SyncStatus } from '../store/sync/status.ts'
import type { SyncOptions, SyncResult } from '../sync/sync.ts'
import { type Command, formatExamples, serviceOption } from './terminal/command.ts'
import { createRecordsDisplay } from './terminal/progress.ts'
import { createQuietLog, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'
import { formatTable } from './terminal/table.ts'

interface Options {
  service?: string
  full?: boolean
  status?: boolean
}

/** `tillbridge sync`. Exit codes: 0 all syncs succeeded, 2 some records were rejected, 1 a sync failed. */
export const buildSyncCommand = (program: Command) =>
  program
    .command('sync')
    .description('Sync from the back office and the e-commerce platform now')
    .argument('[sync...]', 'the syncs to run, for example stock (default: all)')
    .option(...serviceOption)
    .option('--full', 'run a full sync')
    .option('--status', 'show the status of each sync without running it')
    .addHelpText(
      'after',
      `${formatExamples(
        ['sync --service luma', 'runs all syncs'],
        ['sync stock --full --service luma', 'runs a full stock sync; missing stock becomes 0'],
        ['sync --status --service luma', 'shows the last and the next run of each sync'],
      )}
Exit codes: 0 all syncs succeeded, 2 some records were rejected, 1 a sync failed.
`,
    )
    .action((syncs: string[], options: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(options.service)
        const offices = await openConfiguredBackOffices(readConfig(), keys, db, createQuietLog())
        try {
          const driver = offices.getDriver(service)
          const facts = options.status ? await readSyncStatuses(db, service) : []
          const platformSyncs = (await openPlatform(db, keys, service, createQuietLog()))?.platform.syncs ?? []
          const availableSyncs = [...driver.syncs, ...platformSyncs]
          if (!availableSyncs.length && !facts.length)
            throw new Error(
              `${service.name} uses the embedded back office, which has no syncs. It has no e-commerce connection either. Check it: tillbridge back-office show ${service.name}`,
            )
          if (options.status) console.log(formatStatus(availableSyncs, facts))
          else {
            const run: RunSync = (sync, settings) =>
              isPlatformSync(sync.name)
                ? runPlatformSyncIfReady(db, keys, service, sync.name, settings)
                : runSyncIfReady(db, service, driver, sync, settings)
            await runSyncs(selectSyncs(availableSyncs, syncs), options.full ?? false, run)
          }
        } finally {
          offices.close()
        }
      }),
    )

/** Returns the named syncs in the order of their dependencies. Throws if one doesn't exist. */
function selectSyncs(syncs: readonly SyncDefinition[], names: readonly string[]): readonly SyncDefinition[] {
  const unknown = names.filter(name => !syncs.some(sync => sync.name === name))
  if (unknown.length)
    throw new Error(`Sync ${unknown.join(', ')} not found. Syncs: ${syncs.map(({ name }) => name).join(', ')}.`)
  return names.length ? syncs.filter(({ name }) => names.includes(name)) : syncs
}

const formatNumber = (value: number) => value.toLocaleString('en')

/** Runs a sync of the back office or of the e-commerce platform. */
type RunSync = (sync: SyncDefinition, options: SyncOptions) => ReturnType<typeof runSyncIfReady>

/** Runs a sync of the e-commerce platform, unless another process is running it. */
async function runPlatformSyncIfReady(
  db: Database,
  keys: Keys,
  service: Service,
  name: PlatformSyncName,
  options: SyncOptions,
) {
  const run = await runPlatformSync(db, keys, service, name, createQuietLog(), options)
  return run?.result ? { result: run.result } : { busy: true as const }
}

async function runSyncs(syncs: readonly SyncDefinition[], full: boolean, run: RunSync) {
  const stop = stopBySignal(new Error('The run was stopped. The next run continues from there.'))
  const rows: string[][] = []
  const remarks: string[] = []
  let failed = false
  let rejected = 0
  const fail = (sync: string, reason: string) => {
    failed = true
    remarks.push(`${sync}: ${reason}`)
  }
  for (const sync of syncs) {
    if (stop.signal.aborted) break
    const display = createRecordsDisplay(sync.name)
    try {
      const options = { full, signal: stop.signal, onProgress: display.show }
      const outcome = await run(sync, options).finally(display.end)
      if ('busy' in outcome) fail(sync.name, 'another process is running it.')
      else if ('waitsFor' in outcome)
        fail(sync.name, `not run, because ${outcome.waitsFor.join(' and ')} must succeed first.`)
      else {
        rows.push(toRow(sync.name, outcome.result))
        rejected += outcome.result.rejected
        for (const [text, times] of Object.entries(outcome.result.notes))
          remarks.push(`${sync.name}: ${formatNumber(times)} ${text}.`)
      }
    } catch (error) {
      if (!stop.signal.aborted && !isExpected(error)) throw error
      fail(sync.name, stop.signal.aborted ? 'stopped. The next run continues from there.' : describeError(error))
    }
  }
  stop.end()
  if (rows.length)
    console.log(
      formatTable(['sync', 'read', 'new', 'changed', 'unchanged', 'removed', 'skipped', 'rejected', ''], rows),
    )
  for (const remark of remarks) console.log(remark)
  if (failed) process.exitCode = 1
  else if (rejected) process.exitCode = 2
}

const isExpected = (error: unknown) =>
  error instanceof ApiError || error instanceof DatabaseUnavailable || error instanceof PlatformFailure

function describeError(error: unknown) {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const { cause } = error
  return `${error.message} (${error.code}${cause instanceof Error && cause.message ? `: ${cause.message}` : ''})`
}

function toRow(sync: string, { read, inserted, changed, removed, skipped, rejected, isFull, isIdle }: SyncResult) {
  const unchanged = Math.max(0, read - inserted - changed - skipped - rejected)
  return [
    sync,
    ...[read, inserted, changed, unchanged, removed, skipped, rejected].map(formatNumber),
    isFull ? 'full' : isIdle ? 'no changes' : 'changes',
  ]
}

/** Formats the status of each sync. Works without the back office's settings too, because the status is in the database. */
function formatStatus(syncs: readonly SyncDefinition[], facts: readonly SyncStatus[]) {
  const names = syncs.length ? syncs.map(({ name }) => name) : facts.map(({ sync }) => sync)
  const errors: string[] = []
  const rows = names.map(name => {
    const scheduledSeconds = syncs.find(sync => sync.name === name)?.intervalSeconds
    const fact = facts.find(({ sync }) => sync === name)
    const {
      syncedAt = null,
      lagSeconds = null,
      lastResult = 'none',
      error = null,
      nextRunAt = null,
      fullOnlyIntervalSeconds = null,
    } = fact ?? {}
    const intervalSeconds =
      scheduledSeconds === undefined ? undefined : computeEffectiveInterval(scheduledSeconds, fullOnlyIntervalSeconds)
    const overdue =
      intervalSeconds !== undefined && lagSeconds !== null && isOverdue(lagSeconds, intervalSeconds) ? ' (overdue)' : ''
    if (lastResult === 'failed' && error !== null) errors.push(`${name}: ${error}`)
    const lag = lagSeconds === null ? '-' : `${formatNumber(lagSeconds)} s${overdue}`
    return [
      name,
      lastResult,
      syncedAt ?? 'never',
      lag,
      intervalSeconds === undefined ? '-' : `${formatNumber(intervalSeconds)} s`,
      nextRunAt ?? '-',
    ]
  })
  return [formatTable(['sync', 'last run', 'synced at', 'lag', 'interval', 'next run'], rows), ...errors].join('\n')
}
