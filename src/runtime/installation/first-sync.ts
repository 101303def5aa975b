import type { BackOffices } from '../../backoffice/back-offices.ts'
import { runSyncIfReady } from '../../backoffice/run-sync.ts'
import type { Database } from '../../database/db.ts'
import { DatabaseUnavailable } from '../../database/errors.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { ApiError } from '../../errors/api-error.ts'
import { changeSettings } from '../../store/tenancy/settings.ts'

/** Maximum milliseconds by which the first sync delays the start. Jobs sync the rest. */
const timeoutMs = 120_000
/** Milliseconds between two progress lines. */
const progressIntervalMs = 5_000

/** Syncs a new service from its back office and prints the progress. Jobs retry what fails. */
export async function runFirstSync(db: Database, offices: BackOffices, service: Service, say: (line: string) => void) {
  const retryNote = 'Jobs will retry while Tillbridge runs. See "tillbridge sync --status".'
  say('First start: reading from the back office.')
  try {
    const updatedService = await adoptCurrency(db, offices, service, say)
    const signal = AbortSignal.timeout(timeoutMs)
    const driver = offices.getDriver(updatedService)
    for (const sync of driver.syncs) {
      let saidAt = performance.now()
      const onProgress = ({ read }: { read: number }) => {
        if (performance.now() - saidAt < progressIntervalMs) return
        saidAt = performance.now()
        say(formatProgress(sync.name, read, ' so far'))
      }
      const outcome = await runSyncIfReady(db, updatedService, driver, sync, { signal, onProgress })
      if ('result' in outcome) say(formatProgress(sync.name, outcome.result.read))
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return say(`The first sync takes longer than ${timeoutMs / 1_000} s. ${retryNote}`)
    if (error instanceof DatabaseUnavailable) return say(`${error.message} ${retryNote}`)
    if (!(error instanceof ApiError)) throw error
    say(`The back office could not be read: ${error.message} ${retryNote}`)
  }
}

const formatProgress = (sync: string, read: number, more = '') =>
  `  ${sync.padEnd(16)} ${countNoun(read, 'record')}${more}`

/** Probes the back office and adopts its currency. Returns the updated service. */
async function adoptCurrency(db: Database, offices: BackOffices, service: Service, say: (line: string) => void) {
  const { release, stores, currency } = await offices.getDriver(service).probe()
  say(
    `  release ${release ?? 'unknown'}, ${countNoun(stores, 'store')}, ${currency ?? `currency unknown: ${service.settings.currency}`}`,
  )
  return currency === undefined ? service : db.transaction(tx => changeSettings(tx, service, { currency }))
}
