import type { Command } from 'commander'
import { openBackOffices } from '../backoffice/back-offices.ts'
import type { Driver } from '../backoffice/port/driver.ts'
import { pullFeed } from '../backoffice/run-sync.ts'
import { backOfficeSettings, readConfig } from '../config/config.ts'
import type { Database } from '../database/db.ts'
import { DatabaseAway } from '../database/errors.ts'
import type { Feed } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { askedEvery, isLate, type SyncStanding, syncFacts } from '../store/sync/status.ts'
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

/** `tillbridge sync`. Exit code: 0 all was pulled, 2 some records were refused, 1 a feed could not be pulled. */
export const syncCommand = (program: Command) =>
  program
    .command('sync')
    .description('Sync from the back office now')
    .argument('[feed...]', 'only these, such as stock; all of them, if none is named')
    .option(...serviceOption)
    .option('--full', 'run a full sync')
    .option('--status', 'show how each feed stands, and pull nothing')
    .addHelpText(
      'after',
      `${examples(
        ['sync --service luma', 'runs all syncs'],
        ['sync stock --full --service luma', 'runs a full stock sync; missing stock becomes 0'],
        ['sync --status --service luma', 'when each feed was pulled last, and when it is next'],
      )}
Exit code: 0 when all was pulled, 2 when records were refused, 1 when a feed could not be pulled.
`,
    )
    .action((feeds: string[], options: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(options.service)
        const offices = await openBackOffices({ db, keys, defaults: backOfficeSettings(readConfig()), log: quietLog() })
        try {
          const driver = offices.driverOf(service)
          const facts = options.status ? await syncFacts(db, service) : []
          if (driver.isOurs && !facts.length)
            throw new Error(
              `Nothing is pulled for ${service.name}: it has the embedded back office, as far as the settings here say (tillbridge back-office show ${service.name}).`,
            )
          if (options.status) console.log(statusOf(driver, facts))
          else await pullAll(db, service, driver, chosen(driver, feeds), options.full ?? false)
        } finally {
          offices.close()
        }
      }),
    )

/** The feeds that are named, in the order in which one needs the other. */
function chosen({ feeds }: Driver, names: readonly string[]): readonly Feed[] {
  const unknown = names.filter(name => !feeds.some(feed => feed.name === name))
  if (unknown.length)
    throw new Error(`There is no feed ${unknown.join(', ')}; there are: ${feeds.map(({ name }) => name).join(', ')}.`)
  return names.length ? feeds.filter(({ name }) => names.includes(name)) : feeds
}

const figure = (value: number) => value.toLocaleString('en')

async function pullAll(db: Database, service: Service, driver: Driver, feeds: readonly Feed[], full: boolean) {
  const stop = stopBySignal(new Error('The run was stopped; the next one goes on from there.'))
  const rows: string[][] = []
  const remarks: string[] = []
  let failed = false
  let refused = 0
  const fail = (feed: string, why: string) => {
    failed = true
    remarks.push(`${feed}: ${why}`)
  }
  for (const feed of feeds) {
    if (stop.signal.aborted) break
    const display = syncProgress(feed.name)
    try {
      const options = { full, signal: stop.signal, onProgress: display.show }
      const pulled = await pullFeed(db, service, driver, feed, options).finally(display.end)
      if ('busy' in pulled) fail(feed.name, 'another process is pulling it.')
      else if ('waitsFor' in pulled)
        fail(feed.name, `nothing, before ${pulled.waitsFor.join(' and ')} have been pulled.`)
      else {
        rows.push(rowOf(feed.name, pulled.result))
        refused += pulled.result.refused
        for (const [text, times] of Object.entries(pulled.result.notes))
          remarks.push(`${feed.name}: ${figure(times)} ${text}.`)
      }
    } catch (error) {
      if (!stop.signal.aborted && !(error instanceof ApiError || error instanceof DatabaseAway)) throw error
      fail(feed.name, stop.signal.aborted ? 'stopped; the next run goes on from there.' : describe(error))
    }
  }
  stop.end()
  if (rows.length) console.log(table(['feed', 'read', 'new', 'changed', 'unchanged', 'removed', 'refused', ''], rows))
  for (const remark of remarks) console.log(remark)
  if (failed) process.exitCode = 1
  else if (refused) process.exitCode = 2
}

function describe(error: unknown) {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const { cause } = error
  return `${error.message} (${error.code}${cause instanceof Error && cause.message ? `: ${cause.message}` : ''})`
}

function rowOf(feed: string, { read, inserted, changed, removed, refused, isFull, isIdle }: SyncResult) {
  const unchanged = Math.max(0, read - inserted - changed - refused)
  return [
    feed,
    ...[read, inserted, changed, unchanged, removed, refused].map(figure),
    isFull ? 'everything' : isIdle ? 'nothing' : 'changes',
  ]
}

/** Also where this command's environment does not say what stands behind the service: what is known of its feeds is in the database. */
function statusOf({ feeds }: Driver, facts: readonly SyncStanding[]) {
  const names = feeds.length ? feeds.map(({ name }) => name) : facts.map(({ feed }) => feed)
  const rows = names.map(name => {
    const planned = feeds.find(feed => feed.name === name)?.everySeconds
    const fact = facts.find(({ feed }) => feed === name)
    const { syncedAt = null, lagSeconds = null, lastResult = 'none', nextAt = null, wholeEvery = null } = fact ?? {}
    const every = planned === undefined ? undefined : askedEvery(planned, wholeEvery)
    const late = every !== undefined && lagSeconds !== null && isLate(lagSeconds, every) ? ' (late)' : ''
    const lag = lagSeconds === null ? '-' : `${figure(lagSeconds)} s${late}`
    return [name, lastResult, syncedAt ?? 'never', lag, every === undefined ? '-' : `${figure(every)} s`, nextAt ?? '-']
  })
  return table(['feed', 'last run', 'synced at', 'lag', 'every', 'next run'], rows)
}
