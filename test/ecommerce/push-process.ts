import { deriveKeys } from '../../src/crypto/keys.ts'
import { openDatabase } from '../../src/database/db.ts'
import { reconcileStock } from '../../src/ecommerce/reconciliation/reconcile.ts'
import { runPlatformSync } from '../../src/ecommerce/run-platform-sync.ts'
import { pushStock } from '../../src/ecommerce/stock-push/push.ts'
import { readServiceOfJob } from '../../src/store/tenancy/services.ts'

// Repeats one type of work for a service until the process is killed. Prints a line after each success.

const [serviceId = '', work = ''] = process.argv.slice(2)
const { DATABASE_URL = '', SECRET_KEY = '' } = process.env
const db = openDatabase(DATABASE_URL, { max: 20, statementTimeoutMs: 60_000, onFault: () => {}, pooled: false })
const keys = deriveKeys(SECRET_KEY)
const service = await readServiceOfJob(db, Number(serviceId))
if (!service) throw new Error(`service ${serviceId} not found`)
const log = { warn() {} }
const options = { signal: AbortSignal.timeout(3_600_000), isEmbedded: true }

const workByName: Record<string, () => Promise<unknown>> = {
  push: () => pushStock(db, keys, service, log, options),
  reconcile: () => reconcileStock(db, keys, service, log, options),
  sync: () => runPlatformSync(db, keys, service, 'ecommerce-variants', log, { full: true }),
}
const run = workByName[work]
if (!run) throw new Error(`work must be one of ${Object.keys(workByName).join(', ')}`)
for (;;) {
  await run()
  console.log(work)
}
