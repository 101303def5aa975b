import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Keys, keysFrom } from '../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { type Kept, keep } from '../support/processes.ts'

/** An empty installation of processes of its own: PostgreSQL, and as many that serve as are named. */
export interface Installation {
  directory: string
  /** The bundled PostgreSQL. */
  postgres: Pick<Postgres, 'pid'>
  databaseUrl: string
  db: Database
  keys: Keys
  /** What the keys are made of. */
  secret: string
  service: Service
  headers: Record<string, string>
  apis: Kept[]
  /** What does jobs. */
  workers: Kept[]
  /** What the processes have logged as errors. */
  log: string[]
  close(): Promise<void>
}

interface How {
  apis?: number
  /** Where the database is, instead of a bundled PostgreSQL. */
  at?: { url: string; stop(): Promise<void> }
  workers?: number
  /** What a process is set to, by its name (`api-1`, `worker-1`). */
  of?: (name: string) => Record<string, string>
  /** Other ways to the database, by the names of those who go them. */
  through?: (databaseUrl: string) => Promise<Record<string, string>>
  settings?: Partial<Settings>
  environment?: Record<string, string>
  /** Called before any process serves. */
  prepare?: (made: Pick<Installation, 'db' | 'keys' | 'service'>) => Promise<void>
}

/** A bundled PostgreSQL. */
async function bundled(directory: string) {
  const postgres = await startPostgres(join(directory, 'postgres'))
  const { host, port, user, database } = postgres.connection
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  return { url, stop: postgres.stop, postgres }
}

export async function openInstallation({
  at,
  apis = 1,
  workers = 0,
  of = () => ({}),
  through,
  settings,
  environment,
  prepare,
}: How = {}): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-trial-'))
  chmodSync(directory, 0o711)
  const { url: databaseUrl, stop, postgres } = at ? { ...at, postgres: { pid: 0 } } : await bundled(directory)
  const db = openDatabase(databaseUrl, { max: 4, onFault: () => {} })
  await migrate(db)
  const secret = randomBytes(32).toString('hex')
  const keys = keysFrom(secret)
  const service = await addService(db, 'trial', { readsPerMinute: 'off', writesPerMinute: 'off', ...settings })
  if (!service) throw new Error('the service is new')
  const password = await addAccount(db, keys, 'trial', service, 'admin')
  await prepare?.({ db, keys, service })
  const log: string[] = []
  const ways = await through?.(databaseUrl)
  const kept = (count: number, role: string, args: string[]) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => {
        const name = `${role}-${i + 1}`
        return keep({
          directory,
          databaseUrl: ways?.[name] ?? databaseUrl,
          args,
          environment: { SECRET_KEY: secret, RUN_JOBS: 'false', ...environment, ...of(name) },
          onLog: line => void (/"level":(50|60)/.test(line) && log.push(line)),
          name,
        })
      }),
    )
  const serving = await kept(apis, 'api', ['start', '--no-demo'])
  const working = await kept(workers, 'worker', ['worker'])
  return {
    directory,
    postgres,
    databaseUrl,
    db,
    keys,
    secret,
    service,
    headers: {
      authorization: `Basic ${Buffer.from(`trial:${password}`).toString('base64')}`,
      'x-service-name': service.name,
    },
    apis: serving,
    workers: working,
    log,
    async close() {
      await Promise.all([...serving, ...working].map(each => each.end()))
      await db.close()
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
