import { pino } from 'pino'
import { getBackOfficeSettings, readConfig } from '../../src/config/config.ts'
import { buildBackOfficeJobs, buildRecoveryJobs, jobs } from '../../src/jobs/jobs.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { routes } from '../../src/resources/resources.ts'
import { openApp } from '../../src/runtime/app.ts'
import { listen } from '../../src/runtime/listener.ts'
import { waitForShutdownSignal } from '../../src/runtime/signals.ts'
import { armFailpoint } from '../../src/testing/failpoints.ts'
import { openSpedUpDriver, toBackOffices, withShortRetries } from './clock-speed-up.ts'

// `tillbridge start --no-demo` (`api`) or `tillbridge worker` (`worker`) with short timeouts and intervals of the back office.
const [role] = process.argv.slice(2)
const config = readConfig()
const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
const app = await openApp(config, log, { isOwner: true })
const { db, keys } = app.installation
const defaults = getBackOfficeSettings(config)
const backOffices = defaults.url ? toBackOffices(openSpedUpDriver(defaults.url, defaults.ca ?? '')) : app.backOffices
const graceMs = 10_000
if (role === 'api') {
  const { baseUrl, close } = await listen({ ...app, backOffices })
  console.log(`The scenario serves ${baseUrl} now.`)
  await waitForShutdownSignal(log)
  await close(graceMs)
} else {
  armFailpoint(config.failpoint)
  const table = {
    ...jobs,
    ...withShortRetries({
      ...buildBackOfficeJobs(backOffices),
      ...buildRecoveryJobs(backOffices, routes, app.webhookSender),
    }),
  }
  const worker = startWorker({ db, keys, log, mailTransport: await app.mail() }, table)
  console.log('Worker started.')
  await waitForShutdownSignal(log)
  await worker.stop(graceMs)
}
backOffices.close()
await app.close()
process.exit(0)
